import { pause } from '#libs/async/pause.js';
import { type Config } from '#libs/config/index.js';
import { ReplyTopicSweep } from '#libs/ingress/reply-topic-sweep.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { type Reconciled, reconcileSources } from '#libs/sources/index.js';
import { type SourceTopics } from '#libs/sources/published.js';
import { type Logger } from '#libs/telemetry/index.js';
import { workflowChanges } from '#libs/workflows/index.js';
import { type ControlPlane } from './control-plane.js';

/** Ends operations that a crash interrupted; with `startedBefore` only those that no live process can still run. */
export const reconcile = (
  { engines, views, handleCommand: handle, clock }: ControlPlane,
  topics: SourceTopics,
  startedBefore?: number,
): Promise<Reconciled> =>
  reconcileSources({
    view: views.sources,
    handle,
    topics,
    vault: engines.vault,
    clock,
    ownerChanges: workflowChanges(engines.events),
    ...(startedBefore === undefined ? {} : { startedBefore }),
  });

export interface MaintenanceOptions {
  readonly config: Config;
  readonly plane: ControlPlane;
  readonly sourceTopics: SourceTopics;
  /** Notifies the runner of a source that the definition in the event log applies again. */
  readonly operationEnded: (sourceId: string) => Promise<void>;
  readonly logger: Logger;
  readonly everyMs?: number;
}

const EVERY_MS = 30_000;
/** Deploy, activate and deactivate. Each has its timeout; the slack covers waits for a runner and the steps between. */
const HOOKS_OF_AN_OPERATION = 3;
const SLACK_MS = 120_000;

/** Periodically ends abandoned operations and deletes topics of ended processes. For one process at a time. */
export const startMaintenance = async ({
  config,
  plane,
  sourceTopics,
  operationEnded,
  logger,
  everyMs = EVERY_MS,
}: MaintenanceOptions): Promise<RunningWork> => {
  const abort = new AbortController();
  const { engines, clock } = plane;
  const sweep = new ReplyTopicSweep({ log: engines.log, registered: () => engines.registry.registered(), logger });
  const longestOperationMs = HOOKS_OF_AN_OPERATION * config.hookTimeoutS * 1_000 + SLACK_MS;

  const pass = async (): Promise<void> => {
    const done = await reconcile(plane, sourceTopics, clock.now() - longestOperationMs);
    const repaired = done.rolledBack.length + done.finished.length + done.deleted.length + done.released.length;
    for (const sourceId of [...done.rolledBack, ...done.finished]) await operationEnded(sourceId);
    if (repaired > 0) logger.info({ ...done }, 'maintenance.repaired');
    await sweep.pass();
  };

  const run = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      // The first pass waits too, so that all live processes have reported.
      await pause(everyMs, abort.signal);
      if (abort.signal.aborted) return;
      try {
        await pass();
      } catch (error) {
        logger.error({ err: error }, 'maintenance.failed');
      }
    }
  };
  const running = run();
  return {
    async stop() {
      abort.abort();
      await running;
    },
  };
};
