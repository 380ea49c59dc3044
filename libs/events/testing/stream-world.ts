import { EventEmitter } from 'node:events';
import { type ServerResponse } from 'node:http';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import {
  type EventStream,
  EventStreams,
  publicReader,
  type StreamFrame,
  type StreamPorts,
  type UnsentLimits,
} from '#libs/event-streams/index.js';
import { emitsStream, liveEvent } from '../stream-events/live-event.js';
import { id, topics } from './emit-record.js';

/** A response whose client reads on request only. */
export class FakeResponse extends EventEmitter {
  written: Buffer[] = [];
  readonly socket = new EventEmitter();
  destroyed = false;
  reads = true;
  private unread: { readonly bytes: number; readonly taken: () => void }[] = [];
  get writableLength(): number {
    return this.unread.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  get writableNeedDrain(): boolean {
    return this.writableLength > 16_384;
  }
  get text(): string {
    return Buffer.concat(this.written).toString();
  }
  writeHead(): this {
    return this;
  }
  write(part: Buffer, taken: () => void): boolean {
    this.written.push(part);
    if (this.reads) taken();
    else this.unread.push({ bytes: part.length, taken });
    return !this.writableNeedDrain;
  }
  /** Reads everything written so far. */
  readOnce(): void {
    for (const { taken } of this.unread.splice(0)) taken();
    this.emit('drain');
  }
  read(): void {
    this.reads = true;
    this.readOnce();
  }
  end(): void {
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  /** Values of the events that were written. */
  get data(): unknown[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as unknown);
  }
}

export const MB = 1 << 20;
export const LIMITS: UnsentLimits = { user: 8 * MB, workspace: 12 * MB, process: 16 * MB };
const SHOWN: Parameters<typeof emitsStream>[0] = { emitterId: 'dc_a', channel: '', form: 'plain' };

interface OpenStream {
  readonly stream: EventStream;
  readonly response: FakeResponse;
}

/** Stands for the user of a reader without a key. */
export const PUBLIC = 'public';

/** The streams of a process, and its services for them. */
export class StreamWorld {
  readonly log = new InMemoryStreamLog();
  readonly ended: Parameters<StreamPorts['onEnded']>[0][] = [];
  readonly streams: EventStreams;
  allowed = true;
  exists = true;
  stopping = false;

  constructor(settings: Partial<StreamPorts['settings']> = {}) {
    const ports: StreamPorts = {
      settings: { perUser: 3, unsent: LIMITS, ...settings },
      mayRead: () => this.allowed,
      isPublic: () => this.allowed,
      exists: () => this.exists,
      shuttingDown: () => this.stopping,
      onEnded: (each) => void this.ended.push(each),
    };
    this.streams = new EventStreams(this.log, ports);
  }

  async start(): Promise<void> {
    for (const emitter of ['dc_a', 'dc_b', 'p_a']) await this.log.createTopic(topics.emits(emitter), {});
  }

  async open(shown: Partial<typeof SHOWN> = {}, userId = 'u_1', workspaceId = 'o_1'): Promise<OpenStream> {
    const response = new FakeResponse();
    const reader = userId === PUBLIC ? publicReader(workspaceId) : { apiKeyId: 'key_1', userId, workspaceId };
    const options = emitsStream({ ...SHOWN, ...shown }, 'keep');
    const stream = await this.streams.open(options, reader, response as unknown as ServerResponse);
    stream.open();
    await turns();
    return { stream, response };
  }

  /** A stream whose live events do not wait. Its client reads nothing. */
  async openUnread(shown: Partial<typeof SHOWN> = {}, userId = 'u_1', workspaceId = 'o_1'): Promise<OpenStream> {
    const { stream, response } = await this.open(shown, userId, workspaceId);
    stream.release();
    response.reads = false;
    return { stream, response };
  }

  async publish(...records: LogRecord[]): Promise<void> {
    await this.log.publish(records);
    await turns();
  }
}

/** Waits until every possible write was made. */
export const turns = async (): Promise<void> => {
  for (let n = 0; n < 300; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** The n-th event of dc_a, as it is replayed. */
export const kept = (n: number, payload: unknown = n): StreamFrame => {
  const emitted = { emitterId: 'dc_a', channel: '', eventId: id(n), emitId: `emit-${n}` };
  const made = liveEvent(emitted, JSON.stringify(payload));
  if (!made) throw new Error('no event');
  return { sort: made.sort, frame: made.frame('plain') };
};

export const large = (mb: number): string => 'x'.repeat(mb * MB);
