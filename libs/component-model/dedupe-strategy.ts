/** How `$emit` treats ids that a source has emitted before. */
export type DedupeStrategy = 'unique' | 'greatest' | 'last';
