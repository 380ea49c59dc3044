/** A record without a prototype: `__proto__` and `constructor` are keys like others in it. */
export const dictionary = <T>(from: Readonly<Record<string, T>> = {}): Record<string, T> => {
  const made = Object.create(null) as Record<string, T>;
  Object.assign(made, from);
  return made;
};
