import { type LogRecord } from './stream-log.js';

/** UTF-8 bytes of a record's key, headers as JSON, and value; about, where a header needs escapes. */
export const recordBytes = ({ key, headers, value }: Pick<LogRecord, 'key' | 'headers' | 'value'>): number => {
  let bytes = Buffer.byteLength(key) + Buffer.byteLength(value) + 1;
  for (const [name, text] of Object.entries(headers)) bytes += name.length + Buffer.byteLength(text) + 6;
  return bytes;
};
