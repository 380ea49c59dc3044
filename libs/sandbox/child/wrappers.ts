/** Old components name the wrapper without importing it (decisions.md 2.14). */
export const offerWrappers = (): void => {
  for (const name of ['defineComponent', 'defineSource', 'defineAction', 'defineApp'])
    Object.defineProperty(globalThis, name, {
      value: (definition: unknown) => definition,
      writable: true,
      configurable: true,
    });
};
