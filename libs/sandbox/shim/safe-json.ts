/** Copies and JSON texts of values that JSON cannot represent. */

const plainOf = (value: unknown, above: readonly object[]): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[Circular]';
  const inside = [...above, value];
  if (value instanceof Error) {
    const { name, message, stack } = value;
    return { name, message, stack, ...(plainOf({ ...value }, inside) as object) };
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return plainOf((value as { toJSON: () => unknown }).toJSON(), inside);
  if (value instanceof Map) return plainOf(Object.fromEntries(value as Map<string, unknown>), inside);
  if (value instanceof Set) return plainOf([...(value as Set<unknown>)], inside);
  if (Array.isArray(value)) return value.map((item) => plainOf(item, inside) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainOf(item, inside)]));
};

/** Deep copy that JSON can represent. Cycles are cut, functions are left out, and big integers become texts. */
export const cloneSafe = (value: unknown): unknown => plainOf(value, []);

export const jsonStringifySafe = (value: unknown, replacer?: null, space?: string | number): string | undefined =>
  JSON.stringify(cloneSafe(value), replacer, space);
