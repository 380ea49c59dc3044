declare global {
  // ES2024: Node has it since version 20, but the compiler's library does not list it yet.
  interface String {
    isWellFormed(): boolean;
    toWellFormed(): string;
  }
}

/**
 * Replaces each half of a surrogate pair by U+FFFD. UTF-8 cannot hold such halves, so a text that keeps them changes on
 * its way through a socket, a header, SQLite, Kafka or MongoDB, or is refused there.
 */
export const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

/** Makes every text and every key of a JSON value well-formed. */
export const wellFormedJson = (value: unknown): unknown => {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), wellFormedJson(each)]));
};
