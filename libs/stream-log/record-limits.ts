const KB = 1024;

/**
 * Largest value of a record. MongoDB keeps waiting records as JSON text, which takes up to twice as much, in documents of
 * 16 MB. Kafka takes what its topics are set to (engines/kafka/admin/record-size.ts).
 */
export const RECORD_BYTES = 7_680 * KB;

/** Largest event that a run receives, as JSON. With the error of the run it is one record on `$errors`. */
export const EVENT_BYTES = 7_168 * KB;

/** UTF-8 bytes of a text that is above the limit; undefined for one that is not. */
export const bytesAbove = (text: string, limit: number): number | undefined => {
  // A UTF-16 unit takes three bytes at most.
  if (3 * text.length <= limit) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > limit ? bytes : undefined;
};
