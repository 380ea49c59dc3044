const MASK = '********';

/**
 * Copies a value and masks references to secrets (`signingKeyRef`, `{ secretRef }`) and hashes of API keys. Events hold
 * no secrets. A reference is of no use to a reader, and the hash of a weak key helps to guess the key.
 */
export const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if ('secretRef' in value) return MASK;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, /(Refs?|^keyHash)$/.test(name) ? MASK : masked(each)]),
  );
};
