import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type Decision, type Executable, type Input } from './executable.js';
import { type HeardEmits, type HeardPlace, heardPlaceOf } from './heard-emits.js';
import { REPEATABLE } from './invocation.js';
import { headOf, heardParts } from './lane-state.js';
import { type LaneTracker } from './lane-tracker.js';
import { CommitTooLarge, failIfTooLarge, type RunCommit, type RunJournal, StateConflict } from './run-journal.js';
import { type RunnerLogger, type RunnerMetrics } from './runner-ports.js';

const COMMIT_BATCH = 256;
/** Most bytes of outcomes in one commit, unless a single one has more. A commit is copied on its way to the store. */
const COMMIT_BYTES = 8 * 1024 * 1024;
/** Most records in one commit, unless a single input has more. Building a commit blocks the event loop. */
const COMMIT_RECORDS = 256;

export interface CommitterOptions<S, I extends Input> {
  readonly executable: Executable<S, I>;
  readonly deps: {
    readonly journal: Pick<RunJournal, 'commit' | 'commitAll'>;
    /** Absent for executables that set no alarms. */
    readonly due?: Pick<DueStore, 'put'> | undefined;
    readonly metrics: Pick<RunnerMetrics, 'platformFailure'>;
    readonly logger: Pick<RunnerLogger, 'error'>;
  };
  /** Version of the state in the journal. */
  readonly version: number;
  readonly state: S;
  readonly lastEventId: string;
  readonly tracker: LaneTracker;
  readonly heard: HeardEmits;
  /** Called when every input is committed. */
  readonly onIdle: () => void;
  /**
   * Called when this committer has stopped, nearly always because another process has committed. The caller loads the
   * state again.
   */
  readonly onConflict: (error: StateConflict | CommitTooLarge) => void;
}

const NONE: ReadonlySet<object> = new Set();
const WHOLE = { most: COMMIT_BATCH, level: 0, reason: '' };

/** Commits what one executable decides on its inputs, in their order, with as many inputs in one write as fit. */
export class Committer<S, I extends Input> {
  private readonly inputs: I[] = [];
  private version: number;
  private current: S;
  private committing = false;
  private lastEventId: string;
  private abandonReason: Error | undefined;
  private readonly abandonment = new AbortController();
  private readonly backoff = new Backoff({ firstMs: 100, longestMs: 10_000 });
  /** Limits of the next commit, after the store refused one for its size. */
  private size: { readonly most: number; readonly level: number; readonly reason: string } = WHOLE;

  constructor(private readonly options: CommitterOptions<S, I>) {
    this.version = options.version;
    this.current = options.state;
    this.lastEventId = options.lastEventId;
  }

  /** The state as of the last commit. */
  get state(): S {
    return this.current;
  }

  /** Reason why this committer has stopped, undefined while it commits. */
  get abandonedFor(): Error | undefined {
    return this.abandonReason;
  }

  busy(): boolean {
    return this.inputs.length > 0 || this.committing;
  }

  push(input: I): void {
    if (this.abandonReason) return this.drop(input, this.abandonReason);
    this.inputs.push(input);
    this.commit();
  }

  /** Stops committing. A write in flight may still succeed. Idempotent. */
  abandon(reason: Error): void {
    this.abandonReason ??= reason;
    this.abandonment.abort();
    for (const input of this.inputs.splice(0)) this.drop(input, reason);
  }

  private drop(input: I, reason: Error): void {
    this.options.executable.release(input);
    input.abandoned?.(reason);
  }

  /** Commits all inputs, including those that arrive in the meantime. */
  private commit(): void {
    if (this.committing) return;
    this.committing = true;
    void this.commitInputs()
      .catch((error: unknown) => {
        // Only the journal can fail here, so this is a fault of the platform. Nothing is acknowledged.
        this.failed({ attempt: this.backoff.count, error: String(error) }, 'commit.failed');
        return pause(this.backoff.next(), this.abandonment.signal);
      })
      .finally(() => {
        this.committing = false;
        if (this.inputs.length > 0) this.commit();
        else this.options.onIdle();
      });
  }

  private async commitInputs(): Promise<void> {
    const { executable, tracker, heard } = this.options;
    // Waits one turn of the event loop, so that outcomes that arrived in one frame share a commit.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.inputs.length > 0) {
      await executable.prepare();
      if (this.abandonReason) return;
      const batch = this.nextBatch();
      const { level, reason } = this.size;
      const decision = await executable.decide(this.current, batch, { level, reason });
      const { inbox, places } = repeatableIn(batch);
      const heardAfter = places.length > 0 ? heard.changesAfter(places) : {};
      const progress = tracker.progressAfter(batch.flatMap(({ invocation }) => invocation?.record ?? []));
      const own = this.changesOwn(decision, batch) && {
        executable: executable.id,
        expectedVersion: this.version,
        head: headOf({ progress, lastEventId: decision.lastEventId, counts: decision.counts }),
        parts: { ...heardParts(heardAfter), ...decision.facts },
        inbox,
        records: decision.records,
      };
      const written = await this.write(decision, own ? [own] : []);
      if (written === 'refused' || this.abandonReason) return;
      if (written instanceof CommitTooLarge) {
        await this.makeSmaller(batch.length, written);
        continue;
      }
      this.size = WHOLE;
      heard.stored(places, heardAfter);
      this.current = decision.next;
      this.lastEventId = decision.lastEventId;
      if (own) this.version++;
      this.inputs.splice(0, batch.length);
      for (const input of batch) {
        executable.release(input);
        if (input.invocation) tracker.finish(input.invocation.record);
        input.committed(decision.dropped ?? NONE);
      }
      decision.stored?.();
    }
  }

  private nextBatch(): readonly I[] {
    let bytes = 0;
    let records = 0;
    let count = 0;
    for (const input of this.inputs) {
      const weight = this.options.executable.weightOf(input);
      bytes += weight.bytes;
      records += weight.records;
      if (count > 0 && (count >= this.size.most || bytes > COMMIT_BYTES || records > COMMIT_RECORDS)) break;
      count++;
    }
    return this.inputs.slice(0, count);
  }

  /**
   * After a refusal for size the next commit has half as many inputs. A single input leaves out more each time, so that
   * it ends as an error of its run and later inputs continue.
   */
  private async makeSmaller(inputs: number, error: CommitTooLarge): Promise<void> {
    const { cuts } = this.options.executable;
    const { level } = this.size;
    const isSmallest = inputs === 1 && level === cuts.length - 1;
    this.failed({ inputs, without: cuts[level], error: error.reason }, 'commit.too_large');
    if (isSmallest) await pause(this.backoff.next(), this.abandonment.signal);
    else if (inputs === 1) this.size = { most: 1, level: level + 1, reason: error.reason };
    else this.size = { most: Math.ceil(inputs / 2), level: 0, reason: '' };
  }

  /** What happens within runs alone changes nothing of the executable's own state. */
  private changesOwn({ runs, facts, records, lastEventId }: Decision<S>, batch: readonly I[]): boolean {
    if (runs === undefined || lastEventId !== this.lastEventId || records.length > 0) return true;
    return Object.keys(facts).length > 0 || batch.some(({ invocation }) => invocation !== undefined);
  }

  /**
   * Writes the alarms, and then the runs, further states and the executable's own: all at once where the journal can, else
   * one after the other.
   */
  private async write(
    { alarms, runs = [], states = [] }: Decision<S>,
    own: readonly RunCommit[],
  ): Promise<'written' | 'refused' | CommitTooLarge> {
    const { due, journal } = this.options.deps;
    const tooLarge = tooLargeOf([...runs, ...states]);
    if (tooLarge) return tooLarge;
    const all = [...runs, ...states, ...own];
    const together = all.length > 1 && journal.commitAll ? [async () => journal.commitAll?.(all)] : undefined;
    const groups = together
      ? [together]
      : [runs, states, own].map((commits) => commits.map((commit) => () => journal.commit(commit)));
    let written: 'written' | 'refused' | CommitTooLarge = 'written';
    if (alarms.length > 0) written = await this.repeated([async () => due?.put(alarms)]);
    for (const writes of groups) if (written === 'written' && writes.length > 0) written = await this.repeated(writes);
    return written;
  }

  /**
   * Repeats those of the writes that failed until all are durable or one is refused. Nothing is acknowledged while the
   * store cannot write.
   */
  private async repeated(writes: readonly (() => Promise<void>)[]): Promise<'written' | 'refused' | CommitTooLarge> {
    let left = writes;
    while (!this.abandonReason) {
      const ends = await Promise.allSettled(left.map((write) => write()));
      const failed = ends.flatMap((end, index) =>
        end.status === 'rejected' ? [{ index, error: end.reason as unknown }] : [],
      );
      if (failed.length === 0) {
        this.backoff.reset();
        return 'written';
      }
      const conflict = failed.find(({ error }) => error instanceof StateConflict)?.error;
      const tooLarge = failed.find(({ error }) => error instanceof CommitTooLarge)?.error;
      if (conflict instanceof StateConflict) return this.lostTo(conflict);
      if (tooLarge instanceof CommitTooLarge) {
        // Others may be stored by now, so all of them are read again.
        return writes.length === 1 ? tooLarge : this.lostTo(tooLarge);
      }
      this.failed({ attempt: this.backoff.count, error: String(failed[0]?.error) }, 'commit.retried');
      left = failed.flatMap(({ index }) => left[index] ?? []);
      await pause(this.backoff.next(), this.abandonment.signal);
    }
    return 'refused';
  }

  private lostTo(reason: StateConflict | CommitTooLarge): 'refused' {
    this.abandon(reason);
    this.options.onConflict(reason);
    return 'refused';
  }

  private failed(fields: object, message: string): void {
    const { deps, executable } = this.options;
    deps.metrics.platformFailure();
    deps.logger.error({ source: executable.id, ...fields }, message);
  }
}

/** Checked before any is written, because a smaller batch must find all of its runs as they were. */
const tooLargeOf = (commits: readonly RunCommit[]): CommitTooLarge | undefined => {
  try {
    for (const commit of commits) failIfTooLarge(commit);
    return undefined;
  } catch (error) {
    if (error instanceof CommitTooLarge) return error;
    throw error;
  }
};

/** The ids that a commit remembers of its inputs, so that their repeats do not run again. */
const repeatableIn = (
  batch: readonly Input[],
): { readonly inbox: readonly string[]; readonly places: readonly HeardPlace[] } => {
  const inbox: string[] = [];
  const places: HeardPlace[] = [];
  for (const { invocation, repeat } of batch) {
    if (!invocation || repeat || !REPEATABLE.has(invocation.headers.kind)) continue;
    inbox.push(invocation.headers.id);
    const place = heardPlaceOf(invocation.headers);
    if (place) places.push(place);
  }
  return { inbox, places };
};
