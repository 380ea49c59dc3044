/** What `@pipedream/types` resolves to: the wrappers only name what they wrap (decisions.md 2.14). */
const same = <T>(definition: T): T => definition;

export const defineSource = same;
export const defineAction = same;
export const defineApp = same;
export const defineComponent = same;
