import { type ServerResponse } from 'node:http';
import { type OnModuleDestroy } from '@nestjs/common';
import { Budget, type OverBudget } from '#libs/async/budget.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type StoredRecord, type StreamLog, type Tail } from '#libs/stream-log/stream-log.js';
import { type EndedStream, EventStream, type StreamEnd, type StreamFrame, type StreamOptions } from './event-stream.js';
import { LiveRecord } from './live-record.js';
import { type StreamPorts, type StreamSettings } from './ports.js';
import { type Holder, type Scope, type StreamReader, UnsentBytes } from './unsent-bytes.js';
import { WriteTurns } from './write-turns.js';

interface Open {
  /** Number of the stream, greater than those of streams opened before. */
  readonly number: number;
  readonly stream: EventStream;
}

/** The streams that show records of the same topics, and the reader of those. */
interface Feed {
  /** By the key of the records that they show. */
  readonly streams: Map<string, Set<Open>>;
  tail?: Promise<Tail>;
}

/** Streams of readers without a key in each workspace. */
const PUBLIC_STREAMS = 100;
const CHECK_MS = 500;
/** Time between two keep-alives of a stream. */
const KEEP_ALIVE_CHECKS = 30;

/**
 * The open streams of this process. One reader of the log serves all that show the same topics: a record costs one
 * look-up, one encoding for each form in which streams show it, and the writes.
 */
export class EventStreams implements OnModuleDestroy {
  private readonly opens = new Set<Open>();
  /** By the beginning of the names of their topics. */
  private readonly feeds = new Map<string, Feed>();
  private readonly counts: Budget<'user' | 'workspace'>;
  /** Of the readers without a key, who take no room of others. */
  private readonly publicCounts: Budget<'user' | 'workspace'>;
  private readonly unsent: UnsentBytes;
  private opened = 0;
  private readonly turns = new WriteTurns();
  private timer: NodeJS.Timeout | undefined;
  private checks = 0;

  constructor(
    private readonly log: Pick<StreamLog, 'tail'>,
    private readonly ports: StreamPorts,
  ) {
    const { settings } = ports;
    this.counts = new Budget(streamLimits(settings));
    this.publicCounts = new Budget(publicLimits(settings));
    this.unsent = new UnsentBytes(settings.unsent);
  }

  get size(): number {
    return this.counts.inUse + this.publicCounts.inUse;
  }

  /** Bytes that the process keeps for readers that have not read them. */
  get unsentBytes(): number {
    return this.unsent.heldBy('process', '');
  }

  /**
   * Resolves with a stream that receives every later event, before anything is sent. Throws
   * stream.too_many.
   */
  async open(options: StreamOptions, reader: StreamReader, response: ServerResponse): Promise<EventStream> {
    const over = this.countsOf(reader).tryHold(holdersOf(reader), 1);
    if (over) throw tooMany(over, reader);
    const { unsent, turns } = this;
    const stream = new EventStream(options, reader, response, { unsent, turns }, (ended) => this.ended(open, ended));
    const open: Open = { number: this.opened++, stream };
    try {
      await Promise.all(this.add(open).map(([topics, feed]) => this.tailOf(topics, feed)));
    } catch (error) {
      this.remove(open);
      stream.abandon();
      throw error;
    }
    return stream;
  }

  /** Whether the stream of the workflow needs no key. */
  isPublic(workflowId: string): boolean {
    return this.ports.isPublic(workflowId);
  }

  /** Sends kept events. Resolves when the connection has room for the next, or when the stream is over. */
  async replay(stream: EventStream, events: readonly StreamFrame[]): Promise<void> {
    const sent = stream.replay(events);
    this.keepWithinLimits();
    await sent;
  }

  async onModuleDestroy(): Promise<void> {
    this.endAll('shutting down');
    await this.close();
  }

  private async tailOf(topics: string, feed: Feed): Promise<Tail> {
    feed.tail ??= this.log.tail({ prefix: topics }, (records) => this.show(feed, records));
    try {
      return await feed.tail;
    } catch (error) {
      delete feed.tail;
      throw error;
    }
  }

  private show({ streams }: Feed, records: readonly StoredRecord[]): void {
    for (const record of records) {
      const { workspace } = record.headers;
      const ofKey = streams.get(record.key);
      // The key of an event of the platform is its workspace.
      const ofWorkspace = workspace === undefined || workspace === record.key ? undefined : streams.get(workspace);
      if (!ofKey && !ofWorkspace) continue;
      const live = new LiveRecord(record);
      for (const opens of [ofKey ?? [], ofWorkspace ?? []])
        for (const { stream } of opens) {
          const event = stream.options.show(live);
          if (event) stream.live(event);
        }
      this.keepWithinLimits();
    }
  }

  /**
   * Cuts streams until no sum of unsent bytes is above its limit: those of the user, of the workspace, or of the user with
   * the most in the process. Streams without a key are cut first, and then the one with the most unsent bytes.
   */
  private keepWithinLimits(): void {
    for (let over = this.unsent.over(); over; over = this.unsent.over()) {
      if (this.cutPublic(over)) continue;
      const { scope, holder } = over.scope === 'process' ? this.unsent.largest('user') : over;
      const ofHolder = this.all().filter(({ stream }) => holdersOf(stream.reader)[scope] === holder);
      // Of two streams with equal bytes the newer one has had less time to read.
      ofHolder.sort((a, b) => b.stream.unsentBytes - a.stream.unsentBytes || b.number - a.number);
      for (const { stream } of ofHolder) {
        stream.cut('too much unsent');
        if (!this.unsent.isOver(over)) break;
        if (over.scope === 'process' && this.unsent.largest('user').holder !== holder) break;
      }
    }
  }

  /** Whether it cut any. */
  private cutPublic(over: Holder): boolean {
    const unread = this.all().filter(
      ({ stream: { reader, unsentBytes } }) =>
        reader.apiKeyId === null && unsentBytes > 0 && holdersOf(reader)[over.scope] === over.holder,
    );
    unread.sort((a, b) => b.stream.unsentBytes - a.stream.unsentBytes);
    for (const { stream } of unread) {
      stream.cut('too much unsent');
      if (!this.unsent.isOver(over)) break;
    }
    return unread.length > 0;
  }

  private countsOf({ apiKeyId }: StreamReader): Budget<'user' | 'workspace'> {
    return apiKeyId === null ? this.publicCounts : this.counts;
  }

  private all(): Open[] {
    return [...this.opens];
  }

  private add(open: Open): readonly (readonly [topics: string, feed: Feed])[] {
    this.opens.add(open);
    this.timer ??= setInterval(() => this.check(), CHECK_MS).unref();
    return open.stream.options.reads.map(({ topics, key }) => {
      let feed = this.feeds.get(topics);
      if (!feed) this.feeds.set(topics, (feed = { streams: new Map() }));
      const ofKey = feed.streams.get(key) ?? new Set();
      feed.streams.set(key, ofKey.add(open));
      return [topics, feed];
    });
  }

  private remove(open: Open): void {
    if (!this.opens.delete(open)) return;
    const { options, reader } = open.stream;
    for (const { topics, key } of options.reads) {
      const streams = this.feeds.get(topics)?.streams;
      const ofKey = streams?.get(key);
      ofKey?.delete(open);
      if (ofKey?.size === 0) streams?.delete(key);
    }
    this.countsOf(reader).release(holdersOf(reader), 1);
  }

  private ended(open: Open, ended: EndedStream): void {
    this.remove(open);
    this.ports.onEnded({ ...ended, ...open.stream.reader });
  }

  /** Ends streams that may no longer be read or have no reader, and keeps the others alive. */
  private check(): void {
    if (this.ports.shuttingDown()) return this.endAll('shutting down');
    const isAlive = ++this.checks % KEEP_ALIVE_CHECKS === 0;
    for (const { stream } of this.all()) {
      if (!this.ports.exists(stream.options.emitterId)) stream.end('emitter deleted');
      else if (!this.mayRead(stream)) stream.end('access lost');
      else if (stream.isStalled()) stream.cut('too slow');
      else {
        stream.sendDue();
        if (isAlive) stream.keepAlive();
      }
    }
    void this.close();
  }

  private mayRead({ reader, options }: EventStream): boolean {
    const { apiKeyId, workspaceId } = reader;
    return apiKeyId === null ? this.ports.isPublic(options.emitterId) : this.ports.mayRead(apiKeyId, workspaceId);
  }

  private endAll(why: StreamEnd): void {
    for (const { stream } of this.all()) stream.end(why);
  }

  /** Reads only the topics of which a stream is open. */
  private async close(): Promise<void> {
    const unused = [...this.feeds].filter(([, { streams }]) => streams.size === 0);
    for (const [topics] of unused) this.feeds.delete(topics);
    if (this.feeds.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    for (const [, { tail }] of unused) await (await tail?.catch(() => undefined))?.close();
  }
}

const holdersOf = ({ userId, workspaceId }: StreamReader): Readonly<Record<Scope, string>> => ({
  user: userId,
  workspace: workspaceId,
  process: '',
});

const streamLimits = ({ perUser }: StreamSettings): Readonly<Record<Scope, number>> => ({
  user: perUser,
  workspace: 5 * perUser,
  process: 10 * perUser,
});

/** All readers without a key of a workspace are one user. */
const publicLimits = ({ perUser }: StreamSettings): Readonly<Record<Scope, number>> => ({
  workspace: PUBLIC_STREAMS,
  user: PUBLIC_STREAMS,
  process: 10 * perUser,
});

const tooMany = (
  { scope, limit, actual }: OverBudget<'user' | 'workspace'>,
  { apiKeyId, userId, workspaceId }: StreamReader,
): DomainError => {
  const open = actual - 1;
  if (apiKeyId === null) {
    const text = `${open} streams without a key are open, the limit is ${limit}: try later, or send a key`;
    return new DomainError('stream.too_many', text, { scope, limit, actual: open });
  }
  const whose = { user: `user ${userId}`, workspace: `workspace ${workspaceId}`, process: 'this server' }[scope];
  const setting = 'SLUICE_STREAMS_PER_USER';
  return new DomainError(
    'stream.too_many',
    `${whose} has ${open} open streams, the limit is ${limit}: close some, or have ${setting} raised`,
    { scope, limit, actual: open, setting },
  );
};
