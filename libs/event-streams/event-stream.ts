import { type ServerResponse } from 'node:http';
import { type LiveRecord } from './live-record.js';
import { type StreamReader, type UnsentBytes } from './unsent-bytes.js';
import { type Writing, type WriteTurns } from './write-turns.js';

/** Why a stream ended. */
export type StreamEnd =
  | 'client left'
  | 'too slow'
  | 'too much unsent'
  | 'access lost'
  | 'emitter deleted'
  | 'shutting down'
  | 'events not readable in time'
  | 'read failed'
  | 'complete';

/** An event as a stream sends it. */
export interface StreamFrame {
  /** Text that grows from event to event of a stream. */
  readonly sort: string;
  readonly frame: Buffer;
  /** Set when the stream ends once the event is sent. */
  readonly isLast?: true;
}

/** Records that a stream may show. */
export interface StreamReads {
  /** Beginning of the names of their topics. */
  readonly topics: string;
  /** Their key, or the workspace that they name in their headers. */
  readonly key: string;
}

export interface StreamOptions {
  /** Source, workflow, webhook or workspace that the stream is about. The stream ends with its deletion. */
  readonly emitterId: string;
  readonly reads: readonly StreamReads[];
  /** Comment that is sent at once, and then keeps the connection alive. */
  readonly keepAlive: string;
  /** Place at which a reader resumes that has all until now. Sent where no event tells it. */
  readonly place?: () => string;
  /** Called twice a second. Makes an event of what is due by time. */
  readonly due?: () => StreamFrame | undefined;
  /** What else the log line of its end says of the stream. */
  readonly about: Readonly<Record<string, unknown>>;
  /**
   * Makes the event of a record of the emitter; undefined for one that the stream does not show. Must not throw. Streams
   * that show the same share one buffer.
   */
  readonly show: (live: LiveRecord) => StreamFrame | undefined;
}

export interface EndedStream {
  readonly emitterId: string;
  readonly why: StreamEnd;
  readonly events: number;
  readonly bytes: number;
  readonly ms: number;
  /** Cause of a failed read. */
  readonly err?: unknown;
}

/** Services that the streams of a process share. */
export interface SharedByStreams {
  readonly unsent: UnsentBytes;
  readonly turns: WriteTurns;
}

/** Unsent bytes of a stream that may wait for any time. */
const FREE_UNSENT_BYTES = 1 << 20;
/** Consecutive checks without progress after which a stream with more unsent bytes is cut. */
const STALLED_CHECKS = 20;
/** Bytes that are written to the connection at once. */
const PART_BYTES = 64 << 10;
/**
 * Times in milliseconds, after a client closed its side, at which a comment is sent to it. If the client is gone, its
 * system answers the first with a reset, and the next finds the connection closed.
 */
const PROBES_AFTER_MS = [0, 20, 500, 2_000];
const PROBE = Buffer.from(':\n\n');
/** Milliseconds after which a browser connects again. */
const RETRY_MS = 1_000;
/** Number of sent entries after which they are removed from a queue. */
const SENT_ENTRIES = 1_024;

/** An event, or a comment, whose `sort` is empty. */
type Entry = StreamFrame;

/**
 * One open stream of server-sent events. Unread events wait here, in buffers that streams share, and are written to the
 * connection part by part. Until `release`, live events wait separately; those that were replayed in the meantime are
 * not sent again.
 */
export class EventStream implements Writing {
  private readonly startedAt = performance.now();
  private events = 0;
  private bytes = 0;
  private last = '';
  private queue: Entry[] = [];
  /** Index of the first unsent entry, and its bytes that were sent. */
  private first = 0;
  private offset = 0;
  private waiting: Entry[] | undefined = [];
  /** Bytes that wait here, and bytes in the connection that the kernel has not accepted. */
  private queuedBytes = 0;
  private inFlight = 0;
  /** Bytes that the kernel has accepted, now and at the last check. */
  private taken = 0;
  private takenBefore = 0;
  private stalledChecks = 0;
  private onSent: (() => void) | undefined;
  /** Whether the last event of the stream is among those sent. */
  private isComplete = false;
  private over = false;

  /** @param onEnd called once. */
  constructor(
    readonly options: StreamOptions,
    readonly reader: StreamReader,
    private readonly response: ServerResponse,
    private readonly shared: SharedByStreams,
    private readonly onEnd: (ended: EndedStream) => void,
  ) {
    response.once('close', () => this.ended('client left'));
    response.on('drain', () => this.goOn());
    // The client may still read. Only the answer of its system to sent bytes shows whether it is gone.
    response.socket?.once('end', () => {
      for (const ms of PROBES_AFTER_MS) setTimeout(() => this.keepAlive(PROBE), ms).unref();
    });
  }

  get isOver(): boolean {
    return this.over;
  }

  get unsentBytes(): number {
    return this.queuedBytes + this.inFlight;
  }

  /** Sends the headers and a first comment, so that the client knows at once that the stream is open. */
  open(): void {
    this.response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    this.send({ frame: Buffer.from(`retry: ${RETRY_MS}\n:${this.options.keepAlive}\n\n`), sort: '' });
  }

  /** Keeps the connection alive, which unsent bytes do as well. */
  keepAlive(comment: Buffer = this.comment()): void {
    if (this.unsentBytes === 0) this.send({ frame: comment, sort: '' });
  }

  /** Called twice a second. */
  sendDue(): void {
    const event = this.options.due?.();
    if (event) this.live(event);
  }

  /** Sends kept events. Resolves when the connection has room for the next, or when the stream is over. */
  async replay(events: readonly StreamFrame[]): Promise<void> {
    for (const event of events) {
      if (this.over) return;
      this.send(event);
    }
    if (!this.over && !this.isSent()) await new Promise<void>((resolve) => (this.onSent = resolve));
  }

  /** Sends the waiting live events, and later ones as they arrive. */
  release(): void {
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    for (const entry of waiting) {
      this.drop(entry);
      if (entry.sort > this.last) this.send(entry);
    }
    if (this.options.place) this.send({ frame: this.comment(), sort: '' });
  }

  live(event: StreamFrame): void {
    // A record that arrived twice, or was replayed.
    if (this.over || event.sort <= this.last) return;
    if (this.waiting) this.waiting.push(this.taking(event));
    else this.send(event);
  }

  /** Called twice a second. True once more bytes than allowed have waited for the client for 20 calls. */
  isStalled(): boolean {
    const stands = this.inFlight > 0 && this.taken === this.takenBefore && this.unsentBytes > FREE_UNSENT_BYTES;
    this.stalledChecks = stands ? this.stalledChecks + 1 : 0;
    this.takenBefore = this.taken;
    return this.stalledChecks >= STALLED_CHECKS;
  }

  writeSome(): number {
    const { response, shared, reader } = this;
    if (this.over || response.writableNeedDrain) return 0;
    const part = this.nextPart();
    if (!part) return 0;
    this.bytes += part.length;
    this.inFlight += part.length;
    shared.unsent.hold(reader, part.length);
    response.write(part, () => this.wasTaken(part.length));
    if (!response.writableNeedDrain) this.goOn();
    return part.length;
  }

  /** Ends the stream in order, so that the client connects again with the id of the last event. */
  end(why: StreamEnd, err?: unknown): void {
    if (this.over) return;
    this.ended(why, err);
    this.response.end();
  }

  /** Ends the stream without waiting for the client to read the rest. */
  cut(why: StreamEnd): void {
    if (this.over) return;
    this.ended(why);
    this.response.destroy();
  }

  /** Abandons a stream that could not be opened, and returns its response to the caller. */
  abandon(): void {
    this.over = true;
    for (const entry of [...this.queue.slice(this.first), ...(this.waiting ?? [])]) this.drop(entry);
    this.shared.unsent.hold(this.reader, -this.inFlight);
    [this.queue, this.waiting, this.first, this.queuedBytes, this.inFlight] = [[], undefined, 0, 0, 0];
    this.sent();
  }

  /** Has the place only once the stream is released, because what is replayed before is older. */
  private comment(): Buffer {
    const { keepAlive, place } = this.options;
    if (!place || this.waiting) return Buffer.from(`:${keepAlive}\n\n`);
    const at = place();
    return Buffer.from(`:${at}\nid: ${at}\n\n`);
  }

  private send(entry: Entry): void {
    if (this.over || this.isComplete) return;
    this.queue.push(this.taking(entry));
    if (entry.sort !== '') this.last = entry.sort;
    this.isComplete ||= entry.isLast === true;
    this.shared.turns.add(this);
  }

  private taking(entry: Entry): Entry {
    this.queuedBytes += entry.frame.length;
    this.shared.unsent.share(this.reader, entry.frame);
    return entry;
  }

  /** Releases the rest of an entry. */
  private drop({ frame }: Entry, sent = 0): void {
    this.queuedBytes -= frame.length - sent;
    this.shared.unsent.unshare(this.reader, frame);
  }

  private goOn(): void {
    if (this.first < this.queue.length) this.shared.turns.add(this);
    else if (this.isComplete) this.end('complete');
    else if (this.isSent()) this.sent();
  }

  private isSent(): boolean {
    return this.first === this.queue.length && !this.response.writableNeedDrain;
  }

  private sent(): void {
    const { onSent } = this;
    this.onSent = undefined;
    onSent?.();
  }

  private nextPart(): Buffer | undefined {
    const parts: Buffer[] = [];
    let size = 0;
    let isEnd = false;
    for (let entry = this.queue[this.first]; entry && size < PART_BYTES; entry = this.queue[this.first]) {
      const part = entry.frame.subarray(this.offset, this.offset + PART_BYTES - size);
      parts.push(part);
      size += part.length;
      this.queuedBytes -= part.length;
      this.offset += part.length;
      if (this.offset < entry.frame.length) break;
      isEnd = part.length < entry.frame.length;
      this.drop(entry, entry.frame.length);
      this.first++;
      this.offset = 0;
      if (entry.sort !== '') this.events++;
    }
    this.forgetSent();
    const [only] = parts;
    // The end of a large event is copied, because the connection would otherwise keep the whole event in memory.
    return parts.length > 1 || (only && isEnd) ? Buffer.concat(parts) : only;
  }

  private forgetSent(): void {
    if (this.first < this.queue.length && this.first < SENT_ENTRIES) return;
    this.queue = this.queue.slice(this.first);
    this.first = 0;
  }

  private wasTaken(bytes: number): void {
    if (this.over) return;
    this.inFlight -= bytes;
    this.taken += bytes;
    this.shared.unsent.hold(this.reader, -bytes);
  }

  private ended(why: StreamEnd, err?: unknown): void {
    if (this.over) return;
    this.abandon();
    const { events, bytes } = this;
    const { emitterId, about } = this.options;
    const ms = Math.round(performance.now() - this.startedAt);
    this.onEnd({ ...about, emitterId, why, events, bytes, ms, ...(err === undefined ? {} : { err }) });
  }
}
