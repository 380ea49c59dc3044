import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { DOWN_FD, encodeRecord, MAX_BATCH, RecordParser, UP_FD } from '#libs/sandbox/protocol/protocol.js';

const MAX_RECORD = 1_048_576;

/** A bare Node process that echoes the frames of the sandbox protocol over the same kind of pipe. */
export class EchoFloor {
  private readonly child = spawn(process.execPath, [fileURLToPath(new URL('./echo-child.js', import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
  });
  private readonly down = this.child.stdio[DOWN_FD] as Socket;
  private readonly waiting: (() => void)[] = [];
  private unsent: { readonly event: string; readonly resolve: () => void }[] = [];
  private frames = 0;

  constructor() {
    endsWithUs(this.child);
    // An echo answers a whole frame, so the oldest frame is done.
    const parser = new RecordParser(MAX_RECORD, () => this.waiting.shift()?.());
    (this.child.stdio[UP_FD] as Socket).on('data', (chunk: Buffer) => parser.push(chunk));
  }

  /** Sends an event as a run. Runs of one turn of the event loop go in one frame, as those of a sandbox do. */
  run(event: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.unsent.length === 0) setImmediate(() => this.send());
      this.unsent.push({ event, resolve });
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.down.end();
    await ended;
  }

  private send(): void {
    const all = this.unsent;
    this.unsent = [];
    for (let at = 0; at < all.length; at += MAX_BATCH) {
      const frame = all.slice(at, at + MAX_BATCH);
      const runs = frame.map(({ event }, n) => [n, Buffer.byteLength(event)]);
      this.waiting.push(() => frame.forEach(({ resolve }) => resolve()));
      const texts = frame.map(({ event }) => event);
      this.down.write(encodeRecord(this.frames++, { t: 'run', runs }, texts));
    }
  }
}
