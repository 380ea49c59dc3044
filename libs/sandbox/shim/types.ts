/** Replaces `@pipedream/types` inside the jail (docs/reference/component-model.md#define-wrappers). */
const same = <T>(definition: T): T => definition;

export const defineSource = same;
export const defineAction = same;
export const defineApp = same;
export const defineComponent = same;
