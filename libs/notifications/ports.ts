/** Ports of this context, which the composition root implements. */

export interface NotifiedSources {
  /** Finds a source that is not deleted. */
  find(id: string): { readonly workspaceId: string } | undefined;
}
export const NOTIFIED_SOURCES = Symbol('NotifiedSources');

/** Whether this server sends email. */
export const SENDS_EMAIL = Symbol('SendsEmail');
