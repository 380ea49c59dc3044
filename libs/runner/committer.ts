import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type DueStore } from '#libs/due/due-store.js';
import { type Decision, type Executable, type Input } from './executable.js';
import { type HeardEmits, type HeardPlace, heardPlaceOf } from './heard-emits.js';
import { REPEATABLE } from './invocation.js';
import { headOf, heardParts } from './lane-state.js';
import { type LaneTracker } from './lane-tracker.js';
import { CommitTooLarge, type RunCommit, type RunJournal, StateConflict } from './run-journal.js';
import { type RunnerLogger, type RunnerMetrics } from './runner-ports.js';

const COMMIT_BATCH = 256;
/** Bytes of outcomes in one commit, unless a single one is larger. Each commit is copied on its way to the store. */
const COMMIT_BYTES = 8 * 1024 * 1024;
/** Records in one commit, unless a single input has more. Building a commit holds up the event loop. */
const COMMIT_RECORDS = 256;

export interface CommitterOptions<S, I extends Input> {
  readonly executable: Executable<S, I>;
  readonly deps: {
    readonly journal: Pick<RunJournal, 'commit'>;
    /** Absent for executables that set no alarms. */
    readonly due?: Pick<DueStore, 'put'> | undefined;
    readonly metrics: Pick<RunnerMetrics, 'platformFailure'>;
    readonly logger: Pick<RunnerLogger, 'error'>;
  };
  /** The state as the journal has it. */
  readonly version: number;
  readonly state: S;
  readonly tracker: LaneTracker;
  readonly heard: HeardEmits;
  /** Called when nothing is left to commit for now. */
  readonly onIdle: () => void;
  /** Called when another process has committed. Nothing more is committed here. The caller loads the state again. */
  readonly onConflict: (error: StateConflict) => void;
}

const WHOLE = { most: COMMIT_BATCH, level: 0, reason: '' };

/** Commits what one executable decides on its inputs, in the order of the inputs, as many as fit in one write. */
export class Committer<S, I extends Input> {
  private readonly inputs: I[] = [];
  private version: number;
  private current: S;
  private committing = false;
  private abandonReason: Error | undefined;
  private readonly abandonment = new AbortController();
  private readonly backoff = new Backoff({ firstMs: 100, longestMs: 10_000 });
  /** How the next commit must be smaller than one that the store refused for its size. */
  private size: { readonly most: number; readonly level: number; readonly reason: string } = WHOLE;

  constructor(private readonly options: CommitterOptions<S, I>) {
    this.version = options.version;
    this.current = options.state;
  }

  /** The state as of the last commit. */
  get state(): S {
    return this.current;
  }

  /** Reason why nothing more is committed here. Undefined while commits go on. */
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

  /** Commits all inputs. More may arrive in the meantime and are committed afterwards. */
  private commit(): void {
    if (this.committing) return;
    this.committing = true;
    void this.commitInputs()
      .catch((error: unknown) => {
        // A fault of the platform, because only the journal may fail. The inputs stay, and nothing is acknowledged.
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
    // One turn of the event loop gathers the outcomes that arrived in one frame.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.inputs.length > 0) {
      if (this.abandonReason) return;
      const batch = this.nextBatch();
      const { level, reason } = this.size;
      const decision = await executable.decide(this.current, batch, { level, reason });
      const { inbox, places } = repeatableIn(batch);
      const heardAfter = places.length > 0 ? heard.changesAfter(places) : {};
      const progress = tracker.progressAfter(batch.flatMap(({ invocation }) => invocation?.record ?? []));
      const written = await this.write(decision, {
        executable: executable.id,
        expectedVersion: this.version,
        head: headOf({ progress, lastEventId: decision.lastEventId }),
        parts: { ...heardParts(heardAfter), ...decision.facts },
        inbox,
        records: decision.records,
      });
      if (written === 'refused' || this.abandonReason) return;
      if (written instanceof CommitTooLarge) {
        await this.makeSmaller(batch.length, written);
        continue;
      }
      this.size = WHOLE;
      heard.stored(places, heardAfter);
      this.current = decision.next;
      this.version++;
      this.inputs.splice(0, batch.length);
      for (const input of batch) {
        executable.release(input);
        if (input.invocation) tracker.finish(input.invocation.record);
        input.committed();
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
   * After a refusal for size the next commit has half as many inputs. One alone leaves out more each time, so that it ends
   * as an error of its run and those after it go on.
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

  /** Retries until the commit is durable or too large. Nothing is acknowledged while the store cannot write. */
  private async write({ alarms }: Decision<S>, commit: RunCommit): Promise<'written' | 'refused' | CommitTooLarge> {
    const { deps, onConflict } = this.options;
    while (!this.abandonReason) {
      try {
        if (alarms.length > 0) await deps.due?.put(alarms);
        await deps.journal.commit(commit);
        this.backoff.reset();
        return 'written';
      } catch (error) {
        if (error instanceof StateConflict) {
          this.abandon(error);
          onConflict(error);
          return 'refused';
        }
        if (error instanceof CommitTooLarge) return error;
        this.failed({ attempt: this.backoff.count, error: String(error) }, 'commit.retried');
        await pause(this.backoff.next(), this.abandonment.signal);
      }
    }
    return 'refused';
  }

  private failed(fields: object, message: string): void {
    const { deps, executable } = this.options;
    deps.metrics.platformFailure();
    deps.logger.error({ source: executable.id, ...fields }, message);
  }
}

/** What a commit remembers of its inputs, so that a repeat of theirs does not run again. */
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
