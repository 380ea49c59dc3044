/** Sizes that count towards the limits of a run, in UTF-8 bytes. Child and host use the same figures. */

/** Size counted for a numeric id. */
const NUMBER_BYTES = 24;

const bytesOf = (text: string): number => (text === '' ? 0 : Buffer.byteLength(text));

export const emitBytes = (
  payloadBytes: number,
  channel: string,
  id: string | number | null,
  summary: string | null,
): number =>
  payloadBytes +
  bytesOf(channel) +
  (id === null ? 0 : typeof id === 'number' ? NUMBER_BYTES : bytesOf(id)) +
  (summary === null ? 0 : bytesOf(summary));

export const logBytes = (kind: string, textBytes: number): number => kind.length + textBytes;

export const replyBytes = (
  bodyBytes: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
): number => {
  let total = bodyBytes;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') total += name.length + bytesOf(value);
    else for (const each of value) total += name.length + bytesOf(each);
  }
  return total;
};

/** Allowance, on top of the limits, for the last log line of a run, which reports dropped lines. */
export const NOTE_BYTES = 1_024;

export const exportBytes = (name: string, valueBytes: number): number => bytesOf(name) + valueBytes;

export const sendBytes = (head: unknown, textBytes: number): number => bytesOf(JSON.stringify(head)) + textBytes;
