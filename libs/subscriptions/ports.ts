/** Port of this context, which the composition root implements over the live views. */
export interface Resources {
  /** Finds a source (`dc_…`), webhook (`wh_…`) or workflow (`p_…`) that exists and is not deleted. */
  find(id: string): { readonly workspaceId: string } | undefined;
}
export const RESOURCES = Symbol('Resources');
