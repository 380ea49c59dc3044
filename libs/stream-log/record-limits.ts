const KB = 1024;

/**
 * Largest value of a record. MongoDB stores waiting records as JSON text, which needs up to twice as much, in documents
 * of at most 16 MB. The topics on Kafka are configured for it (engines/kafka/admin/record-size.ts).
 */
export const RECORD_BYTES = 7_680 * KB;

/**
 * Largest event that a run receives, as JSON. Together with an error of the run it fits into one record on `$errors`.
 */
export const EVENT_BYTES = 7_168 * KB;

/** Returns the UTF-8 bytes of a text above the limit, undefined for any other text. */
export const bytesAbove = (text: string, limit: number): number | undefined => {
  // A UTF-16 unit needs three bytes at most.
  if (3 * text.length <= limit) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > limit ? bytes : undefined;
};
