import { EventIds } from './emit-ids.js';
import { type DedupeStrategy } from './dedupe.js';
import { type LaneTracker } from './lane-tracker.js';
import { buildCommit, type Finished } from './run-commit.js';
import { type RunCommit, type SourceState, StateConflict } from './run-journal.js';
import { type SourceRunnerDependencies } from './runner-ports.js';

const COMMIT_BATCH = 256;
const RETRY_MS = [100, 300, 1_000, 3_000, 10_000];

export interface RunCommitterOptions {
  readonly sourceId: string;
  readonly deps: Pick<SourceRunnerDependencies, 'journal' | 'topics' | 'metrics' | 'logger'>;
  readonly state: SourceState;
  readonly tracker: LaneTracker;
  readonly strategy: () => DedupeStrategy | null;
  /** Nothing is left to be committed for now. */
  readonly onIdle: () => void;
  /** Another process has committed: nothing of this one will be. */
  readonly onConflict: (error: StateConflict) => void;
}

/** Commits what has ended of one source, in the order in which it ended, as many as there are in one write. */
export class RunCommitter {
  private readonly finished: Finished[] = [];
  private readonly eventIds: EventIds;
  private state: SourceState;
  private committing = false;
  private abandonedFor: Error | undefined;

  constructor(private readonly options: RunCommitterOptions) {
    this.state = options.state;
    this.eventIds = new EventIds(options.state.lastEventId);
  }

  get db(): SourceState['db'] {
    return this.state.db;
  }

  busy(): boolean {
    return this.finished.length > 0 || this.committing;
  }

  push(finished: Finished): void {
    if (this.abandonedFor) return finished.abandoned?.(this.abandonedFor);
    this.finished.push(finished);
    this.commit();
  }

  /** Commits nothing more (what is being written at the moment may still come to be). Idempotent. */
  abandon(reason: Error): void {
    this.abandonedFor ??= reason;
    for (const { abandoned } of this.finished.splice(0)) abandoned?.(reason);
  }

  /** All that is there at once, while more of it ends meanwhile. */
  private commit(): void {
    if (this.committing) return;
    this.committing = true;
    const { sourceId, deps, onIdle } = this.options;
    void this.commitFinished()
      .catch((error: unknown) => deps.logger.error({ source: sourceId, error: String(error) }, 'commit.failed'))
      .finally(() => {
        this.committing = false;
        if (this.finished.length > 0) this.commit();
        else onIdle();
      });
  }

  private async commitFinished(): Promise<void> {
    const { sourceId, deps, tracker, strategy } = this.options;
    // One turn of the event loop gathers the outcomes that came in one frame.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.finished.length > 0) {
      const batch = this.finished.slice(0, COMMIT_BATCH);
      const { commit, next } = buildCommit(batch, {
        ...{ sourceId, tracker, state: this.state, eventIds: this.eventIds, metrics: deps.metrics },
        topic: deps.topics.emits(sourceId),
        strategy: strategy(),
      });
      if (!(await this.write(commit)) || this.abandonedFor) return;
      this.state = next;
      this.finished.splice(0, batch.length);
      for (const { committed } of batch) committed();
    }
  }

  /** Writes until it is durable: a store that cannot write now is waited for, and nothing is acknowledged meanwhile. */
  private async write(commit: RunCommit): Promise<boolean> {
    const { sourceId, deps, onConflict } = this.options;
    for (let attempt = 0; !this.abandonedFor; attempt++) {
      try {
        await deps.journal.commit(commit);
        return true;
      } catch (error) {
        if (error instanceof StateConflict) {
          this.abandon(error);
          onConflict(error);
          return false;
        }
        deps.metrics.platformFailure();
        deps.logger.error({ source: sourceId, attempt, error: String(error) }, 'commit.retried');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]));
      }
    }
    return false;
  }
}
