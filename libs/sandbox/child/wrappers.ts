/** Old components use the wrappers without importing them (docs/reference/component-model.md#define-wrappers). */
export const offerWrappers = (): void => {
  for (const name of ['defineComponent', 'defineSource', 'defineAction', 'defineApp'])
    Object.defineProperty(globalThis, name, {
      value: (definition: unknown) => definition,
      writable: true,
      configurable: true,
    });
};
