import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { EventIds } from '#libs/stream-log/event-ids.js';
import { type DedupeStrategy } from '#libs/component-model/dedupe-strategy.js';
import { Committer, type CommitterOptions } from '../committer.js';
import { type Cut as Smaller, type Executable } from '../executable.js';
import { type LaneState } from '../lane-state.js';
import { type SourceRunnerDependencies } from '../runner-ports.js';
import { type CommitRoutes, SourceRouting } from '../source-routing.js';
import { CUTS, decideRuns, type Finished } from './run-commit.js';
import { RunLog } from './run-log.js';
import { type SourceState, sourceStateOf } from './source-state.js';

export interface RunCommitterOptions extends Pick<
  CommitterOptions<SourceState, Finished>,
  'tracker' | 'heard' | 'onIdle' | 'onConflict'
> {
  readonly sourceId: string;
  readonly deps: Pick<SourceRunnerDependencies, 'journal' | 'topics' | 'metrics' | 'logger' | 'settings' | 'routing'>;
  readonly delayed: Pick<DelayedEvents, 'usage'>;
  readonly stored: Pick<LaneState, 'version' | 'lastEventId' | 'own' | 'counts'>;
  readonly strategy: () => DedupeStrategy | null;
  /** Called when changes of a run to `$.service.db` were refused. */
  readonly onRefused: () => void;
}

export type RunCommitter = Committer<SourceState, Finished>;

/** Commits the finished executions of one source. */
export const runCommitter = (options: RunCommitterOptions): RunCommitter => {
  const { deps, stored, tracker, heard, onIdle, onConflict } = options;
  const { version, own, lastEventId } = stored;
  const executable = new SourceDecisions(options);
  const state = { ...sourceStateOf(own), counts: stored.counts };
  return new Committer({ executable, deps, version, state, lastEventId, tracker, heard, onIdle, onConflict });
};

/** A source as an executable of the committer. */
class SourceDecisions implements Executable<SourceState, Finished> {
  readonly id: string;
  readonly cuts = CUTS;
  private readonly eventIds: EventIds;
  private readonly runLog: RunLog;
  private readonly routing: SourceRouting;
  private routes: CommitRoutes | undefined;

  constructor(private readonly options: RunCommitterOptions) {
    const { sourceId, stored, deps } = options;
    this.id = sourceId;
    this.eventIds = new EventIds(stored.lastEventId);
    this.routing = new SourceRouting(sourceId, deps.routing);
    this.runLog = new RunLog({ sourceId, logger: deps.logger, settings: deps.settings });
  }

  async prepare(): Promise<void> {
    this.routes = await this.routing.begin();
  }

  async decide(state: SourceState, inputs: readonly Finished[], { level, reason }: Smaller) {
    const { deps, delayed, strategy, onRefused } = this.options;
    const { routes } = this;
    const context = {
      sourceId: this.id,
      topic: deps.topics.emits(this.id),
      strategy: strategy(),
      state,
      eventIds: this.eventIds,
      metrics: deps.metrics,
      delayed,
      routes,
    };
    const { refused, ...decision } = await decideRuns(inputs, context, CUTS[level], reason);
    const whenStored = (): void => {
      routes?.committed();
      for (const finished of inputs) this.runLog.committed(finished, refused?.get(finished));
      if (refused) onRefused();
    };
    return { ...decision, stored: whenStored };
  }

  weightOf({ outcome }: Finished): { readonly bytes: number; readonly records: number } {
    return { bytes: outcome?.held?.bytes ?? 0, records: outcome?.emits.length ?? 0 };
  }

  release({ outcome }: Finished): void {
    outcome?.held?.release();
  }
}
