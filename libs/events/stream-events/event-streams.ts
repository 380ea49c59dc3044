import { type ServerResponse } from 'node:http';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { PLATFORM_CHANNELS } from '#libs/component-model/channels.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type StreamLog, type Tail } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG } from '#libs/stream-log/tokens.js';
import { EMITS } from '#libs/stream-log/topics.js';
import { STREAM_PORTS, type StreamPorts } from '../ports.js';
import { type EndedStream, EventStream, type StreamEnd, type StreamOptions } from './event-stream.js';
import { liveEventOf } from './live-event.js';

/** Who reads a stream. */
export interface StreamReader {
  readonly apiKeyId: string;
  readonly workspaceId: string;
}

interface Open extends StreamReader {
  readonly stream: EventStream;
  readonly keepAlive: string;
}

const CHECK_MS = 500;
/** Time between two keep-alives of a stream. */
const KEEP_ALIVE_CHECKS = 30;

/**
 * The open streams of this process. One reader of the log serves them all: an event costs one look-up, and one write for
 * each stream that shows it.
 */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  /** By emitter. */
  private readonly streams = new Map<string, Set<Open>>();
  private readonly perKey = new Map<string, number>();
  private count = 0;
  private tail: Promise<Tail> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private checks = 0;

  constructor(
    @Inject(STREAM_LOG) private readonly log: StreamLog,
    @Inject(STREAM_PORTS) private readonly ports: StreamPorts,
  ) {}

  get size(): number {
    return this.count;
  }

  /**
   * Resolves with a stream to which every later event of its channel comes, before anything is sent. Throws
   * stream.too_many.
   */
  async open(
    options: StreamOptions,
    reader: StreamReader,
    response: ServerResponse,
    keepAlive: string,
  ): Promise<EventStream> {
    this.mustHaveRoom(reader.apiKeyId);
    const stream = new EventStream(options, response, (ended) => this.ended(open, ended));
    const open: Open = { ...reader, stream, keepAlive };
    this.add(open);
    try {
      await (this.tail ??= this.log.tail({ prefix: EMITS }, (records) => {
        for (const record of records) {
          const event = liveEventOf(record);
          if (event) for (const each of this.streams.get(event.emitterId) ?? []) show(each.stream, event);
        }
      }));
    } catch (error) {
      this.tail = undefined;
      this.remove(open);
      throw error;
    }
    return stream;
  }

  async onModuleDestroy(): Promise<void> {
    this.endAll('shutting down');
    await this.close();
  }

  private mustHaveRoom(apiKeyId: string): void {
    const { perKey, inAll } = this.ports.settings;
    const own = this.perKey.get(apiKeyId) ?? 0;
    const [whose, actual, limit, setting] =
      own >= perKey
        ? ['this API key has', own, perKey, 'SLUICE_STREAMS_PER_KEY']
        : ['this server has', this.count, inAll, 'SLUICE_STREAMS'];
    if (actual < limit) return;
    throw new DomainError(
      'stream.too_many',
      `${whose} ${actual} open streams, the limit is ${limit}: close some, or have ${setting} raised`,
      { limit, actual, setting },
    );
  }

  private add(open: Open): void {
    const { emitterId } = open.stream.options;
    const ofEmitter = this.streams.get(emitterId) ?? new Set();
    this.streams.set(emitterId, ofEmitter.add(open));
    this.perKey.set(open.apiKeyId, (this.perKey.get(open.apiKeyId) ?? 0) + 1);
    this.count++;
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
  }

  private remove(open: Open): void {
    const { emitterId } = open.stream.options;
    const ofEmitter = this.streams.get(emitterId);
    if (!ofEmitter?.delete(open)) return;
    if (ofEmitter.size === 0) this.streams.delete(emitterId);
    const left = (this.perKey.get(open.apiKeyId) ?? 1) - 1;
    if (left === 0) this.perKey.delete(open.apiKeyId);
    else this.perKey.set(open.apiKeyId, left);
    this.count--;
  }

  private ended(open: Open, ended: EndedStream): void {
    this.remove(open);
    this.ports.onEnded({ ...ended, apiKeyId: open.apiKeyId, workspaceId: open.workspaceId });
  }

  /** Ends streams that may no longer be read, and keeps the others alive. */
  private check(): void {
    if (this.ports.shuttingDown()) return this.endAll('shutting down');
    if (this.count === 0) return void this.close();
    const isAlive = ++this.checks % KEEP_ALIVE_CHECKS === 0;
    for (const [emitterId, opens] of this.streams) {
      const exists = this.ports.exists(emitterId);
      for (const { stream, apiKeyId, workspaceId, keepAlive } of [...opens]) {
        if (!exists) stream.end('emitter deleted');
        else if (!this.ports.mayRead(apiKeyId, workspaceId)) stream.end('access lost');
        else if (isAlive) stream.comment(keepAlive);
      }
    }
  }

  private endAll(why: StreamEnd): void {
    for (const opens of [...this.streams.values()]) for (const { stream } of [...opens]) stream.end(why);
  }

  /** Reads the log only while somebody listens. */
  private async close(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    const { tail } = this;
    this.tail = undefined;
    await (await tail?.catch(() => undefined))?.close();
  }
}

const show = (stream: EventStream, event: NonNullable<ReturnType<typeof liveEventOf>>): void => {
  const { channel } = stream.options;
  if (channel === undefined ? !PLATFORM_CHANNELS.has(event.channel) : channel === event.channel) stream.live(event);
};
