import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailure } from '../failure.js';
import { exactly, type Fields, fieldText, isFields, textOf } from '../json.js';
import { received, type Received } from './received.js';

/** What a follower needs. Tests give their own. */
export interface Following {
  /** Opens the stream after the cursor. Rejects with CommandFailure. */
  readonly open: (cursor: string | undefined, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  /** Tells a person what becomes of the connection. */
  readonly tell: (text: string) => void;
  /** Ends the follower without a failure. */
  readonly signal: AbortSignal;
  /** A server sends something every 15 s. */
  readonly silenceMs?: number;
  readonly waitsS?: readonly number[];
}

/** A record that the server sent. */
export interface Followed {
  /** Name of its stream. */
  readonly name: string;
  readonly data: Fields;
}

const SILENCE_MS = 40_000;
/** Pauses before one try after another; the last one repeats. */
const WAITS_S = [0, 1, 2, 4, 8, 15];
/** A connection that stayed for less does not begin the pauses again. */
const STEADY_MS = 10_000;
/** Records that are known, so that a repeat is not told again. A server repeats those of 10 s. */
const MOST_KNOWN = 20_000;
/** It is sent back in a header. */
const CURSOR = /^\d{1,15}\/[!-~]{0,400}$/;

/** Follows a stream over lost connections, and tells each record once. */
export class Follower {
  private cursor: string | undefined;
  private readonly known = new Set<string>();
  private body: ReadableStream<Uint8Array> | undefined;
  private openedAt = 0;
  /** Tries since the last steady connection. */
  private tries = 0;
  /** Set after a lost connection, until it is known what was missed. */
  private isReturning = false;

  constructor(private readonly following: Following) {}

  /** Rejects when the first connection fails. Records that come from now on wait for `records`. */
  async connect(): Promise<void> {
    this.body = await this.following.open(this.cursor, this.following.signal);
    this.openedAt = performance.now();
  }

  /** Takes a record that was told otherwise. True for one that was told before. */
  isRepeat(name: string, data: Fields): boolean {
    const emitter = fieldText(data['metadata'], 'emitter_id');
    // A run has the id of its invocation alone.
    const id = fieldText(data, 'id') || fieldText(data, 'invocation_id');
    if (id === '') return false;
    // Attempts of a delivery have its id.
    const key = [name, emitter, id, textOf(data['attempt']), textOf(data['ts'])].join(' ');
    if (this.known.has(key)) return true;
    this.known.add(key);
    const [oldest] = this.known.size > MOST_KNOWN ? this.known : [];
    if (oldest !== undefined) this.known.delete(oldest);
    return false;
  }

  /** Ends with the signal. Rejects when the server refuses the stream. */
  async *records(): AsyncGenerator<Followed> {
    const { signal, silenceMs = SILENCE_MS } = this.following;
    while (!signal.aborted) {
      if (this.body) {
        const events = received(this.body, silenceMs);
        this.body = undefined;
        try {
          for await (const each of events) {
            const record = this.taken(each);
            if (record) yield record;
          }
        } catch (error) {
          if (error instanceof CommandFailure) throw error;
          // The connection is lost.
        }
      }
      if (!signal.aborted) await this.reconnect();
    }
  }

  private async reconnect(): Promise<void> {
    const { tell, signal, waitsS = WAITS_S } = this.following;
    this.isReturning = true;
    if (performance.now() - this.openedAt >= STEADY_MS && this.openedAt > 0) this.tries = 0;
    const seconds = waitsS[Math.min(this.tries++, waitsS.length - 1)] ?? 0;
    tell(`Connection lost. Trying again in ${seconds} s.`);
    try {
      await pause(seconds * 1_000, undefined, { signal });
      await this.connect();
    } catch (error) {
      this.openedAt = 0;
      if (!signal.aborted && !isPassing(error)) throw error;
    }
  }

  private taken(each: Received): Followed | undefined {
    if (each.kind === 'comment') {
      if (CURSOR.test(each.text)) this.isAt(each.text);
      return undefined;
    }
    const { name, id, data } = each;
    const fields = fieldsIn(data);
    if (name === 'gap') {
      this.returned(typeof fields['since'] === 'number' ? fields['since'] : undefined);
      return undefined;
    }
    this.returned();
    if (name === 'skipped') {
      this.following.tell(`${String(fields['count'])} were left out, because there were too many in a second.`);
      return undefined;
    }
    if (id !== undefined && CURSOR.test(id)) this.cursor = id;
    return this.isRepeat(name, fields) ? undefined : { name, data: fields };
  }

  private isAt(cursor: string): void {
    this.cursor = cursor;
    this.returned();
  }

  private returned(since?: number): void {
    if (!this.isReturning) return;
    this.isReturning = false;
    const lost = since === undefined ? '' : `; events before ${timeOfDay(since)} are no longer kept`;
    this.following.tell(`Connected again${lost}.`);
  }
}

const fieldsIn = (json: string): Fields => {
  const value = exactly(json);
  return isFields(value) ? value : {};
};

const timeOfDay = (epochMs: number): string => new Date(epochMs).toTimeString().slice(0, 8);

/** The server is away, or refuses for now. */
const isPassing = (error: unknown): boolean =>
  error instanceof CommandFailure && (error.code === 'no_server' || error.exit === 8 || (error.status ?? 0) >= 500);
