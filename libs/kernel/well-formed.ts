declare global {
  // ES2024: Node has it since version 20, but the compiler's library does not list it yet.
  interface String {
    isWellFormed(): boolean;
    toWellFormed(): string;
  }
}

/**
 * Replaces each lone surrogate by U+FFFD. UTF-8 cannot encode lone surrogates, so a socket, a header, SQLite, Kafka or
 * MongoDB would change or refuse the text.
 */
export const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

/** Makes every text and every key of a JSON value well-formed. */
export const wellFormedJson = (value: unknown): unknown => {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), wellFormedJson(each)]));
};
