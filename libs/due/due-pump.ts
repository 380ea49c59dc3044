import { Backoff } from '#libs/async/backoff.js';
import { WakeablePause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Faults } from '#libs/kernel/faults.js';
import { shareOfHeap } from '#libs/kernel/heap-share.js';
import { eachAlone, laneFaults, type LaneLogger, LaneWriter } from '#libs/stream-log/lane-writer.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { DUE_KINDS } from './due-kinds.js';
import { type DueEntry, type DueStore, type ReadEntry } from './due-store.js';

const BATCH = 256;
/**
 * First lease of an entry that is out. Its record is published again unless its work ends within the lease. The lease
 * doubles each time, because a backlog of the lane may take longer.
 */
const LEASE_MS = 60_000;
const MOST_DOUBLINGS = 6;
/** Longest time between two reads of the store. Other processes add entries without waking this one. */
const POLL_MS = 500;
/** Number of entries in flight (read, and neither set out nor removed) at which no more are read. */
const MOST = 1_024;

export interface DuePumpOptions {
  readonly log: Pick<StreamLog, 'publishEach'>;
  readonly due: Pick<DueStore, 'dueBy' | 'nextDueAt' | 'onPut' | 'put' | 'remove' | 'setOut'>;
  readonly topics: Pick<TopicPolicy, 'deliveries' | 'emits' | 'invocations' | 'messages'>;
  readonly clock: Clock;
  /** Returns a later time for an entry that its worker would only put off again. Default: postpones nothing. */
  readonly postpone?: ((entry: DueEntry) => number | undefined) | undefined;
  /** Called before the removal of entries whose topic was deleted with their owner. */
  readonly onOwnerGone?: (entries: readonly DueEntry[]) => Promise<void>;
  readonly logger: LaneLogger;
  /** Characters of the records in flight at which no more are read. Default: a share of the heap. */
  readonly mostCharacters?: number;
  readonly pollMs?: number;
}

interface Written {
  readonly entry: ReadEntry;
  /** Null when the record's topic does not exist. */
  readonly offset: number | null;
}

/**
 * Publishes each due entry and sets it out, or removes it where no consumer does (docs/adr/0070). A crash in between
 * repeats the record under its ids. An owner whose lane cannot be written delays no other, and its entries keep their
 * order. Run it in one process at a time, because two at once may publish an entry twice.
 */
export class DuePump {
  private stopped = false;
  private running: Promise<void> | undefined;
  private stopListening: (() => void) | undefined;
  /** End of the running pause. An earlier due time ends it at once. */
  private wakeAt = 0;
  private readonly pause = new WakeablePause();
  private readonly faults: Faults;
  private readonly writer: LaneWriter;
  /** Number of entries in flight by owner. No more are read of such an owner, which keeps its entries in order. */
  private readonly inFlight = new Map<string, number>();
  private characters = 0;
  private written: Written[] = [];

  constructor(private readonly options: DuePumpOptions) {
    const { log, logger } = options;
    this.faults = laneFaults(logger);
    this.writer = new LaneWriter({ log, pack: eachAlone, what: 'due entries', faults: this.faults });
  }

  start(): this {
    this.stopListening = this.options.due.onPut((dueAt) => {
      if (dueAt < this.wakeAt) this.pause.wake();
    });
    this.running ??= this.run();
    return this;
  }

  async close(): Promise<void> {
    this.stopped = true;
    this.stopListening?.();
    this.pause.wake();
    await this.running;
    await this.writer.stop();
    this.faults.close();
  }

  private async run(): Promise<void> {
    const { due, clock, pollMs = POLL_MS, logger } = this.options;
    const backoff = new Backoff({ firstMs: 100, longestMs: 5000 });
    while (!this.stopped) {
      // An entry that is put during the read ends the next pause at once.
      this.wakeAt = Infinity;
      let until: number;
      try {
        let next = await due.nextDueAt();
        if (next !== undefined && next <= clock.now()) {
          if ((await this.move(clock.now())) === BATCH) continue;
          next = await due.nextDueAt();
        }
        // The due entries may all belong to owners with entries in flight. The pause ends when one of these is done.
        if (next !== undefined && next <= clock.now() && this.inFlight.size > 0) next = undefined;
        until = Math.min(next ?? Infinity, clock.now() + pollMs);
        backoff.reset();
      } catch (error) {
        const retryInMs = backoff.next();
        logger.error({ err: error, retryInMs }, 'due.not_published');
        until = clock.now() + retryInMs;
      }
      const ms = until - clock.now();
      if (ms <= 0 || this.stopped) continue;
      this.wakeAt = until;
      await this.pause.wait(ms);
    }
  }

  /** Returns the number of entries that were read. */
  private async move(now: number): Promise<number> {
    const { due, topics, postpone } = this.options;
    await this.settleDurable();
    if (this.isFull()) return 0;
    const read = await due.dueBy(now, BATCH, [...this.inFlight.keys()]);
    if (read.length === 0) return 0;
    const later: DueEntry[] = [];
    const ready: ReadEntry[] = [];
    for (const entry of read) {
      const dueAt = postpone?.(entry);
      if (dueAt === undefined) ready.push(entry);
      else later.push({ ...entry, dueAt });
    }
    if (later.length > 0) await due.put(later);
    for (const entry of ready) {
      this.count(entry, 1);
      const settled = (offset: number | null): void => {
        this.written.push({ entry, offset });
        this.pause.wake();
      };
      this.writer.write({ record: DUE_KINDS[entry.kind].recordOf(entry, topics), settled });
    }
    await this.writer.room(Infinity);
    await this.settleDurable();
    return read.length;
  }

  private isFull(): boolean {
    const { mostCharacters = shareOfHeap() } = this.options;
    let entries = 0;
    for (const count of this.inFlight.values()) entries += count;
    return entries >= MOST || this.characters >= mostCharacters;
  }

  private count({ owner, record }: ReadEntry, by: 1 | -1): void {
    const left = (this.inFlight.get(owner) ?? 0) + by;
    if (left > 0) this.inFlight.set(owner, left);
    else this.inFlight.delete(owner);
    this.characters += by * record.value.length;
  }

  /** Sets out entries whose records are durable, and removes those that no consumer removes. */
  private async settleDurable(): Promise<void> {
    const written = [...this.written];
    if (written.length === 0) return;
    const { due, clock, onOwnerGone } = this.options;
    const gone: ReadEntry[] = [];
    const out: ReadEntry[] = [];
    const ended: ReadEntry[] = [];
    for (const { entry, offset } of written) {
      if (offset === null) gone.push(entry);
      else if (DUE_KINDS[entry.kind].removedBy === 'consumer') out.push(entry);
      else ended.push(entry);
    }
    if (gone.length > 0) await onOwnerGone?.(gone);
    const now = clock.now();
    await due.setOut(out.map((entry) => ({ entry, until: now + leaseMs(entry) })));
    await due.remove([...gone, ...ended].map(({ id }) => id));
    this.written = this.written.slice(written.length);
    for (const { entry } of written) this.count(entry, -1);
  }
}

const leaseMs = ({ timesOut }: ReadEntry): number => LEASE_MS * 2 ** Math.min(timesOut, MOST_DOUBLINGS);
