/** Strategy for ids that a source has emitted before. */
export type DedupeStrategy = 'unique' | 'greatest' | 'last';
