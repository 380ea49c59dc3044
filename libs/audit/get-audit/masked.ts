const MASK = '********';

/**
 * A copy without secrets. Events hold references only (`signingKeyRef`, `{ secretRef }`) and hashes of API keys; those
 * are masked too: a reference is of no use to a reader, and a hash of a weak key is a hint.
 */
export const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if ('secretRef' in value) return MASK;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, /(Ref|^keyHash)$/.test(name) ? MASK : masked(each)]),
  );
};
