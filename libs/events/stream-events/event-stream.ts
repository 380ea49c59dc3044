import { type ServerResponse } from 'node:http';
import { type LiveEvent } from './live-event.js';

/** Why a stream ended. */
export type StreamEnd =
  | 'client left'
  | 'too slow'
  | 'access lost'
  | 'emitter deleted'
  | 'shutting down'
  | 'events not readable in time'
  | 'read failed';

export interface StreamOptions {
  readonly emitterId: string;
  /** The one channel that it shows; undefined for all but the platform's. */
  readonly channel: string | undefined;
  /** Whether `data` is the event summary instead of the emitted value. */
  readonly envelope: boolean;
  /** Whether each event names its channel in `event:`. */
  readonly named: boolean;
}

export interface EndedStream extends StreamOptions {
  readonly why: StreamEnd;
  readonly events: number;
  readonly bytes: number;
  readonly ms: number;
}

/** Bytes that may wait for a slow reader. One event alone may be larger. */
export const MAX_WAITING_BYTES = 1024 * 1024;
/** Milliseconds after which a browser connects again. */
const RETRY_MS = 1_000;

/**
 * One open stream of server-sent events. Until `release`, live events wait here; those that were replayed meanwhile are
 * not sent again.
 */
export class EventStream {
  private readonly startedAt = performance.now();
  private events = 0;
  private bytes = 0;
  private last = '';
  private waiting: LiveEvent[] | undefined = [];
  private waitingBytes = 0;
  private over = false;

  /** @param onEnd called once. */
  constructor(
    readonly options: StreamOptions,
    private readonly response: ServerResponse,
    private readonly onEnd: (ended: EndedStream) => void,
  ) {
    response.once('close', () => this.ended('client left'));
  }

  get isOver(): boolean {
    return this.over;
  }

  /** Sends the headers and a first comment, so that the client knows at once that the stream is open. */
  open(comment: string): void {
    this.response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    this.write(`retry: ${RETRY_MS}\n:${comment}\n\n`);
  }

  comment(text: string): void {
    this.write(`:${text}\n\n`);
  }

  /** Sends a kept event. Resolves when the client has room for the next. */
  async replay(event: LiveEvent): Promise<void> {
    this.send(event);
    while (this.response.writableNeedDrain && !this.over) await this.drained();
  }

  /** Sends the live events that have waited, and later ones as they come. */
  release(): void {
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    for (const event of waiting) this.live(event);
  }

  live(event: LiveEvent): void {
    if (this.over) return;
    if (!this.waiting) {
      // A record that comes twice, or was replayed.
      if (event.sort > this.last) this.send(event);
      return;
    }
    this.waitingBytes += event.payload.length;
    if (this.waitingBytes > MAX_WAITING_BYTES && this.waiting.length > 0) return this.drop('too slow');
    this.waiting.push(event);
  }

  /** Ends the stream in order, so that the client connects again with the id of the last event. */
  end(why: StreamEnd): void {
    if (this.over) return;
    this.ended(why);
    this.response.end();
  }

  private send(event: LiveEvent): void {
    const { envelope, named } = this.options;
    this.last = event.sort;
    const name = named ? `event: ${oneLine(event.channel)}\n` : '';
    if (this.write(`id: ${event.id}\n${name}data: ${envelope ? event.envelope() : event.payload}\n\n`)) this.events++;
  }

  /** False when the stream is over, or ends because of it. */
  private write(text: string): boolean {
    if (this.over) return false;
    const { response } = this;
    const unsent = response.writableLength;
    if (unsent > 0 && unsent + text.length > MAX_WAITING_BYTES) {
      this.drop('too slow');
      return false;
    }
    this.bytes += Buffer.byteLength(text);
    response.write(text);
    return true;
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.once('drain', done).once('close', done);
    });
  }

  /** What the client has not read cannot be waited for. */
  private drop(why: StreamEnd): void {
    this.ended(why);
    this.response.destroy();
  }

  private ended(why: StreamEnd): void {
    if (this.over) return;
    this.over = true;
    this.waiting = undefined;
    const { events, bytes } = this;
    this.onEnd({ ...this.options, why, events, bytes, ms: Math.round(performance.now() - this.startedAt) });
  }
}

const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ');
