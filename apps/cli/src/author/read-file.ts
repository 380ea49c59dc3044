import { closeSync, openSync, readSync } from 'node:fs';
import { messageOf } from '#libs/kernel/error-message.js';
import { wrongUsage } from './failure.js';

/** Far more than the API takes of anything. A device has no end, and tells no size. */
const MOST_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** The text of a file or a pipe. Throws for one that is too large. */
export const readText = (file: string, mostBytes = MOST_BYTES): string => {
  const opened = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0; ;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const read = readSync(opened, chunk);
      if (read === 0) return Buffer.concat(chunks).toString('utf8');
      bytes += read;
      if (bytes > mostBytes) throw new Error(`${file} has more than ${mostBytes} bytes, which is more than is read`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(opened);
  }
};

/** As `readText`. Throws CommandFailure, which names the option. */
export const readOption = (option: string, file: string): string => {
  try {
    return readText(file);
  } catch (error) {
    throw wrongUsage(`${option}: ${messageOf(error)}`);
  }
};
