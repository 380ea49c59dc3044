import { type EventStream, type StreamFrame, type StreamOptions, type StreamReads } from './event-stream.js';
import { type EventStreams } from './event-streams.js';
import { type LiveRecord } from './live-record.js';
import { oldestFirst } from './oldest-first.js';
import { type Asked, cursorOf, type Shown, type StreamSource, timeOfCursor } from './stream-source.js';

export const WORKSPACE_KEEP_ALIVE = 'keep-alive';
/** Live records that a stream shows in a second. */
export const SHOWN_PER_SECOND = 200;
/** Records of different writers arrive in another order than their times, but not by more than this. */
const OVERLAP_MS = 10_000;
/** A clock that is further ahead made no cursor of this server. */
const AHEAD_MS = 60_000;
/** Replayed records that are sent together. */
const TOGETHER = 20;

/** Kept records come before live ones, each in the order of their arrival. */
const KEPT = '0';
const LIVE = '1';

/**
 * A stream of what happens in a workspace. Records of different kinds and sources have no order among each other, so a
 * stream that resumes repeats some.
 */
export class WorkspaceStream {
  private sent = 0;
  private second = 0;
  private inSecond = 0;
  private skipped = 0;
  private readonly sources: readonly StreamSource[];

  /**
   * @param sources those of which some stream is asked for are used.
   * @param now epoch milliseconds.
   */
  constructor(
    private readonly asked: Asked,
    sources: readonly StreamSource[],
    private readonly now: () => number,
  ) {
    this.sources = sources.filter(({ names }) => names.some((name) => asked.streams.has(name)));
  }

  options(): StreamOptions {
    const { asked, sources } = this;
    const { streams, workspaceId, emitterId, webhookId } = asked;
    const reads = new Map<string, StreamReads>();
    for (const source of sources) {
      const read = { topics: source.topics, key: source.keyOf(asked) };
      reads.set(`${read.topics} ${read.key}`, read);
    }
    return {
      emitterId: emitterId ?? webhookId ?? workspaceId,
      reads: [...reads.values()],
      keepAlive: WORKSPACE_KEEP_ALIVE,
      place: () => cursorOf({ at: this.now(), id: '' }),
      due: () => this.due(),
      about: { streams: [...streams].join(',') },
      show: (live) => this.show(live),
    };
  }

  /** Sends what is kept since the cursor, and then live records. */
  async resume(stream: EventStream, streams: EventStreams, cursor: string): Promise<void> {
    const { asked, sources } = this;
    const now = this.now();
    const at = timeOfCursor(cursor);
    if (at === undefined || at > now + AHEAD_MS) await streams.replay(stream, [this.gap(now)]);
    else {
      const isReadable = await Promise.all(sources.map((source) => source.caughtUp(asked)));
      if (isReadable.includes(false)) return stream.end('events not readable in time');
      const reader = { userId: stream.reader.userId, isOver: () => stream.isOver };
      const kept = await Promise.all(sources.map((source) => source.kept(asked, at - OVERLAP_MS, reader)));
      const gaps = kept.flatMap(({ gap }) => (gap === undefined || gap <= at ? [] : [gap]));
      if (gaps.length > 0) await streams.replay(stream, [this.gap(Math.max(...gaps))]);
      await this.replay(stream, streams, oldestFirst(kept.map(({ records }) => records)));
    }
    stream.release();
  }

  private async replay(stream: EventStream, streams: EventStreams, records: AsyncIterable<Shown>): Promise<void> {
    let together: StreamFrame[] = [];
    for await (const { frame } of records) {
      if (stream.isOver) return;
      together.push({ sort: this.next(KEPT), frame });
      if (together.length < TOGETHER) continue;
      await streams.replay(stream, together);
      together = [];
    }
    await streams.replay(stream, together);
  }

  private show(live: LiveRecord): StreamFrame | undefined {
    const shown = this.sources.flatMap((source) =>
      live.record.topic.startsWith(source.topics) ? source.show(live, this.asked) : [],
    );
    const fits = shown.slice(0, this.room());
    this.inSecond += fits.length;
    this.skipped += shown.length - fits.length;
    const [first] = fits;
    if (!first) return undefined;
    const frame = fits.length === 1 ? first.frame : Buffer.concat(fits.map((each) => each.frame));
    return { sort: this.next(LIVE), frame };
  }

  /** Number of records that the stream may still show in this second. */
  private room(): number {
    const second = Math.floor(this.now() / 1_000);
    if (second !== this.second) [this.second, this.inSecond] = [second, 0];
    return SHOWN_PER_SECOND - this.inSecond;
  }

  private due(): StreamFrame | undefined {
    if (this.skipped === 0 || this.room() === 0) return undefined;
    const frame = Buffer.from(`event: skipped\ndata: ${JSON.stringify({ count: this.skipped })}\n\n`);
    this.skipped = 0;
    return { sort: this.next(LIVE), frame };
  }

  private gap(since: number): StreamFrame {
    return { sort: this.next(KEPT), frame: Buffer.from(`event: gap\ndata: ${JSON.stringify({ since })}\n\n`) };
  }

  private next(order: typeof KEPT | typeof LIVE): string {
    return order + String(this.sent++).padStart(15, '0');
  }
}
