import { writeSync } from 'node:fs';
import { SPILL_FD, type ChildMessage } from '../protocol/protocol.js';
import { HEADER_BYTES, UP_FD, writeHeader } from '#libs/framing/records.js';

const FLUSH_AT = 256 * 1024;

/**
 * Sends records to the host. It collects them and writes once per tick, with a blocking write. So a flood slows down to
 * the host's reading speed, and memory here does not grow.
 *
 * Before user code gets control, `spill` copies the collected records into a file (1.1 µs, without waking the host).
 * The host reads this file if the process is killed before the tick ends. So a run that then loops endlessly keeps its
 * output, and the host knows which run hangs. The record index tells the host which records it already has.
 */
export class Uplink {
  private buffer = Buffer.allocUnsafe(FLUSH_AT);
  private length = 0;
  private spilled = 0;
  private index = 0;
  private scheduled = false;
  private canSpill = true;
  private flushedAt = 0;

  send(message: ChildMessage, raw = ''): void {
    const json = JSON.stringify(message);
    // A UTF-16 unit takes at most three bytes. The exact size is computed only when this estimate does not fit.
    let room = HEADER_BYTES + 3 * (json.length + raw.length);
    if (this.length + room > this.buffer.length) {
      this.flush();
      if (room > this.buffer.length) {
        room = HEADER_BYTES + Buffer.byteLength(json) + Buffer.byteLength(raw);
        if (room > this.buffer.length) this.buffer = Buffer.allocUnsafe(room);
      }
    }
    const at = this.length;
    const jsonBytes = this.buffer.write(json, at + HEADER_BYTES);
    const rawBytes = raw === '' ? 0 : this.buffer.write(raw, at + HEADER_BYTES + jsonBytes);
    writeHeader(this.buffer, at, this.index++, jsonBytes, rawBytes);
    this.length = at + HEADER_BYTES + jsonBytes + rawBytes;
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.endTick);
    }
  }

  spill(): void {
    if (!this.canSpill || this.spilled >= this.length) return;
    try {
      writeSync(SPILL_FD, this.buffer, this.spilled, this.length - this.spilled, this.spilled);
      this.spilled = this.length;
    } catch {
      // The file is missing or full, so the records go to the socket now.
      this.canSpill = false;
      this.flush();
    }
  }

  flush(): void {
    for (let at = 0; at < this.length;) at += this.write(at);
    this.length = 0;
    this.spilled = 0;
    this.flushedAt = performance.now();
    if (this.buffer.length > FLUSH_AT) this.buffer = Buffer.allocUnsafe(FLUSH_AT);
  }

  /** Flushes during long synchronous work, so that the host learns which runs are over. */
  flushIfOlderThan(ms: number): void {
    if (this.length > 0 && performance.now() - this.flushedAt > ms) this.flush();
  }

  private readonly endTick = (): void => {
    this.scheduled = false;
    this.flush();
  };

  private write(at: number): number {
    try {
      return writeSync(UP_FD, this.buffer, at, this.length - at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      // The host is gone, so no process reads the results.
      process.reallyExit(1);
    }
  }
}

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- augments the types of Node
  namespace NodeJS {
    interface Process {
      reallyExit(code: number): never;
    }
  }
}
