/** Dedupe cache of one channel (docs/reference/component-model.md#dedupe-scope). */
export type DedupeCache =
  | { readonly strategy: 'unique'; readonly ids: readonly string[] }
  | { readonly strategy: 'greatest'; readonly max: number }
  | { readonly strategy: 'last'; readonly id: string };
