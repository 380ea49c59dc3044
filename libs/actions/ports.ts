/** Ports of the actions context. The composition root provides them under these tokens. */

/** Provides `ActionRunner` of published.ts. */
export const ACTION_RUNNER = Symbol('ActionRunner');
