/** What this context asks of the others; the composition root answers it over the live views. */
export interface Resources {
  /** A source (`dc_…`), webhook (`wh_…`) or workflow (`p_…`) that exists and is not deleted. */
  find(id: string): { readonly workspaceId: string } | undefined;
}
export const RESOURCES = Symbol('Resources');
