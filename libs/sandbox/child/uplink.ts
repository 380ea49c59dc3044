import { writeSync } from 'node:fs';
import { HEADER_BYTES, SPILL_FD, UP_FD, writeHeader, type ChildMessage } from '../protocol/protocol.js';

const FLUSH_AT = 256 * 1024;

/**
 * The way up to the host. What is said is collected and written once per tick, by a blocking write: a flood is slowed
 * down to what the host takes, without memory growing here.
 *
 * Before user code gets control, `spill` copies what was collected into a file that the host reads should this process
 * be killed before the tick ends (0.6 µs instead of a wake-up of the host): a run that then loops for ever keeps what
 * it said, and is known to be the one that hangs. The record index tells the host what it already has.
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
    this.sendText(JSON.stringify(message), raw);
  }

  /** `json` is the text of a ChildMessage; the host checks it. */
  sendText(json: string, raw: string): void {
    // Three bytes a UTF-16 unit at most; counted exactly only when that estimate does not fit.
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
      // No file, or it is full: the socket has to do.
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

  /** Long synchronous work in one tick must not hide from the host which runs are over. */
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
      // The host is gone: there is nobody left to work for.
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
