import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { type HeardEmits } from './heard-emits.js';
import { type LaneTracker } from './lane-tracker.js';
import { buildCommit, type CommittedState, CUTS, type Finished } from './source/run-commit.js';
import { CommitTooLarge, type RunCommit, StateConflict } from './run-journal.js';
import { type SourceState } from './source/source-state.js';
import { RunLog } from './source/run-log.js';
import { type SourceRunnerDependencies } from './runner-ports.js';
import { SourceRouting } from './source-routing.js';

const COMMIT_BATCH = 256;
/** Bytes of outcomes in one commit, unless a single one is larger. Each commit is copied on its way to the store. */
const COMMIT_BYTES = 8 * 1024 * 1024;
/** Emits in one commit, unless a single outcome has more. Building a commit holds up the event loop. */
const COMMIT_EMITS = 256;

export interface RunCommitterOptions {
  readonly sourceId: string;
  readonly deps: Pick<SourceRunnerDependencies, 'journal' | 'topics' | 'metrics' | 'logger' | 'settings' | 'routing'>;
  readonly delayed: Pick<DelayedEvents, 'usage'>;
  readonly state: CommittedState;
  readonly tracker: LaneTracker;
  readonly heard: HeardEmits;
  readonly strategy: () => DedupeStrategy | null;
  /** Called when nothing is left to commit for now. */
  readonly onIdle: () => void;
  /** Called when changes of a run to `$.service.db` were refused. */
  readonly onRefused: () => void;
  /** Called when another process has committed. Nothing more is committed here. LoadedSources loads the source again. */
  readonly onConflict: (error: StateConflict) => void;
}

const WHOLE = { most: COMMIT_BATCH, cut: 0, reason: '' };

const drop = ({ outcome, abandoned }: Finished, reason: Error): void => {
  outcome?.held?.release();
  abandoned?.(reason);
};

/** Commits the finished executions of one source in the order in which they ended, as many as fit in one write. */
export class RunCommitter {
  private readonly finished: Finished[] = [];
  private readonly eventIds: EventIds;
  private readonly runLog: RunLog;
  private readonly routing: SourceRouting;
  private state: CommittedState;
  private committing = false;
  private abandonReason: Error | undefined;
  private readonly abandonment = new AbortController();
  private readonly backoff = new Backoff({ firstMs: 100, longestMs: 10_000 });
  /** How the next commit must be smaller than one that the store refused for its size. */
  private size: { readonly most: number; readonly cut: number; readonly reason: string } = WHOLE;

  constructor(private readonly options: RunCommitterOptions) {
    this.state = options.state;
    this.eventIds = new EventIds(options.state.lastEventId);
    const { logger, settings, routing } = options.deps;
    this.routing = new SourceRouting(options.sourceId, routing);
    this.runLog = new RunLog({ sourceId: options.sourceId, logger, settings });
  }

  get db(): SourceState['db'] {
    return this.state.db;
  }

  /** Reason why nothing more is committed here. Undefined while commits go on. */
  get abandonedFor(): Error | undefined {
    return this.abandonReason;
  }

  busy(): boolean {
    return this.finished.length > 0 || this.committing;
  }

  push(finished: Finished): void {
    if (this.abandonReason) return drop(finished, this.abandonReason);
    this.finished.push(finished);
    this.commit();
  }

  /** Stops committing. A write in flight may still succeed. Idempotent. */
  abandon(reason: Error): void {
    this.abandonReason ??= reason;
    this.abandonment.abort();
    for (const finished of this.finished.splice(0)) drop(finished, reason);
  }

  /** Commits all that has finished. More may finish meanwhile and is committed afterwards. */
  private commit(): void {
    if (this.committing) return;
    this.committing = true;
    const { sourceId, deps, onIdle } = this.options;
    void this.commitFinished()
      .catch((error: unknown) => {
        // A fault of the platform, because only the journal may fail. The outcomes stay, and nothing is acknowledged.
        deps.metrics.platformFailure();
        deps.logger.error({ source: sourceId, attempt: this.backoff.count, error: String(error) }, 'commit.failed');
        return pause(this.backoff.next(), this.abandonment.signal);
      })
      .finally(() => {
        this.committing = false;
        if (this.finished.length > 0) this.commit();
        else onIdle();
      });
  }

  private async commitFinished(): Promise<void> {
    const { sourceId, deps, tracker, heard, strategy } = this.options;
    // One turn of the event loop gathers the outcomes that arrived in one frame.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.finished.length > 0) {
      const routes = await this.routing.begin();
      if (this.abandonReason) return;
      const batch = this.nextBatch();
      const {
        commit,
        next,
        places,
        heard: heardAfter,
        refused,
      } = await buildCommit(
        batch,
        {
          sourceId,
          topic: deps.topics.emits(sourceId),
          strategy: strategy(),
          state: this.state,
          tracker,
          heard,
          eventIds: this.eventIds,
          metrics: deps.metrics,
          delayed: this.options.delayed,
          routes,
        },
        CUTS[this.size.cut],
        this.size.reason,
      );
      const written = await this.write(commit);
      if (written === 'refused' || this.abandonReason) return;
      if (written instanceof CommitTooLarge) {
        await this.makeSmaller(batch.length, written);
        continue;
      }
      this.size = WHOLE;
      routes?.committed();
      heard.stored(places, heardAfter);
      this.state = next;
      this.finished.splice(0, batch.length);
      for (const finished of batch) {
        finished.outcome?.held?.release();
        if (finished.invocation) tracker.finish(finished.invocation.record);
        finished.committed();
        this.runLog.committed(finished, refused?.get(finished));
      }
      if (refused) this.options.onRefused();
    }
  }

  private nextBatch(): readonly Finished[] {
    let bytes = 0;
    let emits = 0;
    let count = 0;
    for (const { outcome } of this.finished) {
      bytes += outcome?.held?.bytes ?? 0;
      emits += outcome?.emits.length ?? 0;
      if (count > 0 && (count >= this.size.most || bytes > COMMIT_BYTES || emits > COMMIT_EMITS)) break;
      count++;
    }
    return this.finished.slice(0, count);
  }

  /**
   * After a refusal for size the next commit has half as many executions. One alone leaves out more each time, so that it
   * ends as an error of its run and those after it go on.
   */
  private async makeSmaller(executions: number, error: CommitTooLarge): Promise<void> {
    const { sourceId, deps } = this.options;
    const { cut } = this.size;
    const isSmallest = executions === 1 && cut === CUTS.length - 1;
    deps.metrics.platformFailure();
    deps.logger.error({ source: sourceId, executions, without: CUTS[cut], error: error.reason }, 'commit.too_large');
    if (isSmallest) await pause(this.backoff.next(), this.abandonment.signal);
    else if (executions === 1) this.size = { most: 1, cut: cut + 1, reason: error.reason };
    else this.size = { most: Math.ceil(executions / 2), cut: 0, reason: '' };
  }

  /** Retries until the commit is durable or too large. Nothing is acknowledged while the store cannot write. */
  private async write(commit: RunCommit): Promise<'written' | 'refused' | CommitTooLarge> {
    const { sourceId, deps, onConflict } = this.options;
    while (!this.abandonReason) {
      try {
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
        deps.metrics.platformFailure();
        const attempt = this.backoff.count;
        deps.logger.error({ source: sourceId, attempt, error: String(error) }, 'commit.retried');
        await pause(this.backoff.next(), this.abandonment.signal);
      }
    }
    return 'refused';
  }
}
