/** Makes a record without a prototype, in which `__proto__` and `constructor` are ordinary keys. */
export const dictionary = <T>(from: Readonly<Record<string, T>> = {}): Record<string, T> => {
  const made = Object.create(null) as Record<string, T>;
  Object.assign(made, from);
  return made;
};
