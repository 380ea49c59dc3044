/** `before` is absent from what was added, and `after` from what was removed. */
export interface Difference {
  /** JSON pointer. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Differences of two JSON values, in linear time. Elements of lists are compared by their index. Libraries for this take a
 * key such as `constructor` for one that every object has, and authors may use it.
 */
export const differencesOf = (before: unknown, after: unknown, path = ''): readonly Difference[] => {
  if (!isNested(before) || !isNested(after) || Array.isArray(before) !== Array.isArray(after))
    return before === after ? [] : [{ path, before, after }];
  const former = new Map<string, unknown>(Object.entries(before));
  const present = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...former.keys(), ...present.keys()])].flatMap((key): readonly Difference[] => {
    const inner = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!former.has(key)) return [{ path: inner, after: present.get(key) }];
    if (!present.has(key)) return [{ path: inner, before: former.get(key) }];
    return differencesOf(former.get(key), present.get(key), inner);
  });
};

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
