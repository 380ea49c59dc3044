import { randomUUID } from 'node:crypto';
import { type Collection, type Db } from 'mongodb';
import { type Clock } from '#libs/kernel/clock.js';
import {
  isNameOfRun,
  nameOf,
  namesOfRuns,
  type RunCommit,
  type RunJournal,
  type StateKey,
  type StoredRun,
  type StoredState,
} from '#libs/runner/run-journal.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';
import { ensureIndexes } from '../ensure-indexes.js';
import { repeated } from '../repeated.js';
import { OutboxParts, type OutboxPart } from './outbox-parts.js';
import { StaleOutboxes } from './outbox-sweep.js';
import { RunInbox } from './run-inbox.js';
import { stateOf, type RunDocument } from './run-document.js';
import { UnpublishedBytes } from './unpublished-bytes.js';
import { RunWriter, type OutboxLimits, type RunWriterContext } from './run-writer.js';

export type WarningListener = (message: string, error?: unknown) => void;

export interface RunJournalOptions {
  readonly limits?: Partial<OutboxLimits>;
  /** Limit on the bytes of all states that are not yet in the log. Default: a quarter of the heap, 256 MB at most. */
  readonly unpublishedBytes?: number | undefined;
  readonly onWarning?: WarningListener;
}

const LIMITS: OutboxLimits = { inlineBytes: 2 << 20, unpublishedBytes: 4 << 20, idleMs: 20 };
/** States that stay in memory while they are idle. */
const MAX_QUIET = 1000;
const SWEEP_MS = 5000;

/**
 * RunJournal in MongoDB: one document per state, one write per commit, guarded by the version. That write includes the
 * emits (an outbox), which go to the stream log right after it. If a process dies in between, the next owner's `load`
 * or the sweep of any other process publishes them (docs/adr/0002).
 */
export class MongoRunJournal implements RunJournal {
  private readonly documents: Collection<RunDocument>;
  private readonly partsCollection: Collection<OutboxPart>;
  private readonly parts: OutboxParts;
  private readonly writers = new Map<string, RunWriter>();
  private readonly stale: StaleOutboxes;
  private readonly closing = new AbortController();
  private readonly context: RunWriterContext;
  private sweepTimer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;

  constructor(db: Db, log: StreamLog, clock: Clock, options: RunJournalOptions = {}) {
    this.documents = db.collection<RunDocument>('run_journal', DURABLE);
    this.partsCollection = db.collection<OutboxPart>('outbox_parts', DURABLE);
    this.parts = new OutboxParts(this.partsCollection);
    const instance = randomUUID();
    let ids = 0;
    this.context = {
      documents: this.documents,
      parts: this.parts,
      log,
      limits: { ...LIMITS, ...options.limits },
      unpublished: new UnpublishedBytes(options.unpublishedBytes, this.closing.signal),
      newId: () => `${instance}-${ids++}`,
      closing: this.closing.signal,
      onWarning: options.onWarning ?? (() => undefined),
    };
    this.stale = new StaleOutboxes(this.documents, clock, this.context.newId);
  }

  /** Creates the indexes. */
  static async open(db: Db, log: StreamLog, clock: Clock, options: RunJournalOptions): Promise<MongoRunJournal> {
    const journal = new MongoRunJournal(db, log, clock, options);
    await ensureIndexes(journal.documents, [{ name: 'outbox', key: { outboxMark: 1 }, sparse: true }]);
    await ensureIndexes(journal.partsCollection, [
      { name: 'state', key: { state: 1 } },
      { name: 'token', key: { token: 1 } },
    ]);
    return journal;
  }

  /** Publishes the outboxes of dead processes every few seconds until `close`. */
  startSweeping(): void {
    this.sweepTimer ??= setInterval(() => {
      this.sweeping ??= this.relayStale()
        .catch((error: unknown) => this.context.onWarning('abandoned outboxes cannot be looked up', error))
        .finally(() => (this.sweeping = undefined));
    }, SWEEP_MS).unref();
  }

  load(key: StateKey): Promise<StoredState> {
    return this.writerOf(nameOf(key)).load();
  }

  async partsOf(key: StateKey): Promise<StoredState['parts']> {
    const options = { projection: { parts: 1 }, readConcern: 'majority' } as const;
    return stateOf(await this.documents.findOne({ _id: nameOf(key) }, options)).parts;
  }

  seen(key: StateKey, invocationIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.writerOf(nameOf(key)).seen(invocationIds);
  }

  commit(commit: RunCommit): Promise<void> {
    return this.writerOf(nameOf(commit)).commit(commit);
  }

  async runs(executable: string, after: string, limit: number): Promise<readonly StoredRun[]> {
    const { above, below } = namesOfRuns(executable);
    const documents = await this.documents
      .find({ _id: { $gt: above + after, $lt: below } }, { projection: { version: 1, head: 1 } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    return documents.map(({ _id, version, head }) => ({ run: _id.slice(above.length), version, head }));
  }

  async *executables(): AsyncIterable<string> {
    for await (const { _id } of documentsById(this.documents, ['_id'])) if (!isNameOfRun(_id)) yield _id;
  }

  async inbox(key: StateKey): Promise<readonly string[]> {
    const document = await this.documents.findOne(
      { _id: nameOf(key) },
      { projection: { inbox: 1 }, readConcern: 'majority' },
    );
    return new RunInbox(document?.inbox).ids();
  }

  dropRun(key: Required<StateKey>): Promise<void> {
    return this.writerOf(nameOf(key)).dropPublished();
  }

  async drop(executable: string): Promise<void> {
    const { above, below } = namesOfRuns(executable);
    const open = [...this.writers.keys()].filter((name) => name > above && name < below);
    await Promise.all([executable, ...open].map((name) => this.writerOf(name).drop()));
    await this.parts.removeBetween(above, below);
    await repeated(() => this.documents.deleteMany({ _id: { $gt: above, $lt: below } }));
  }

  /** Publishes outboxes without an active owner, and removes the remains of refused commits. */
  async relayStale(): Promise<void> {
    for await (const name of this.stale.claim((each) => this.writers.get(each)?.isQuiet() === false)) {
      await this.writerOf(name).load();
    }
    await this.parts.sweep(this.documents);
  }

  /** Resolves when everything sent before is durable or refused, and its records are in the log. */
  async drained(): Promise<void> {
    await Promise.all([...this.writers.values()].map((writer) => writer.drained()));
  }

  /**
   * Waits for running commits, publishes what the log accepts at once and leaves the rest in the outbox. Later commits
   * are not refused, so the caller must end them first.
   */
  async close(): Promise<void> {
    this.closing.abort();
    clearInterval(this.sweepTimer);
    await this.sweeping;
    const ends = await Promise.allSettled([...this.writers.values()].map((writer) => writer.close()));
    for (const end of ends) {
      if (end.status === 'rejected') this.context.onWarning('an outbox cannot be cleared', end.reason);
    }
  }

  private writerOf(name: string): RunWriter {
    const writer = this.writers.get(name) ?? new RunWriter(name, this.context);
    // The map keeps the most recently used writer last.
    this.writers.delete(name);
    if (this.writers.size >= MAX_QUIET) this.forgetOldest();
    this.writers.set(name, writer);
    return writer;
  }

  private forgetOldest(): void {
    for (const [name, writer] of this.writers) {
      if (!writer.isQuiet()) continue;
      this.writers.delete(name);
      return;
    }
  }
}
