import { newId } from '#libs/kernel/ids.js';
import { type HookOutcome, type HookRunner } from '#libs/sources/published.js';
import { consumeLanes, type LaneConsumer, type LaneConsumerOptions } from '../lane-consumer.js';
import { LoadedExecutables } from '../loaded-executables.js';
import { SourceRunner, type UnfinishedRuns } from './source-runner.js';
import { type RunnerDependencies } from '../runner-ports.js';

export interface Runner extends HookRunner, LaneConsumer {
  /** Writes a line of the platform to the source's `$logs`. Does nothing when the source is not loaded. */
  note(sourceId: string, text: string): Promise<void>;
  /** Undefined when the source is not loaded. */
  unfinished(sourceId: string): Promise<UnfinishedRuns | undefined>;
  /** Ends the process of a deleted executable and forgets its state in memory. */
  forget(id: string): Promise<void>;
}

/**
 * Starts the role `runner`, steps 2 and 3 of the path of an event (docs/architecture.md).
 * @param others kinds of executables that have prefixes of their own
 */
export const startRunner = async (
  deps: RunnerDependencies,
  others: LaneConsumerOptions['kinds'] = [],
): Promise<Runner> => {
  const sources = new LoadedExecutables({
    load: (sourceId, onConflict) => SourceRunner.load(sourceId, deps, onConflict),
    endProcess: (sourceId) => deps.sandboxes.drop(sourceId),
    metrics: deps.metrics,
    logger: deps.logger,
  });
  const consumer = await consumeLanes({ ...deps, kinds: [...others, { prefix: '', executables: sources }] });

  return {
    ...consumer,

    async runHook({ sourceId, workspaceId, definition, hook }): Promise<HookOutcome> {
      const runner = await sources.open(sourceId);
      const outcome = await runner.hook(hook, definition, workspaceId, newId('inv', deps.clock.now()));
      const { status, error, logs } = outcome;
      return error ? { status, error, logs } : { status, logs };
    },

    async operationEnded(sourceId): Promise<void> {
      (await sources.loaded(sourceId))?.operationEnded();
    },

    async note(sourceId, text): Promise<void> {
      (await sources.loaded(sourceId))?.note(newId('inv', deps.clock.now()), text);
    },

    async unfinished(sourceId) {
      return (await sources.loaded(sourceId))?.unfinished();
    },

    async forget(id): Promise<void> {
      await consumer.forget(id);
      await deps.sandboxes.drop(id);
    },
  };
};
