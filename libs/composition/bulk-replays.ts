import { type Config } from '#libs/config/index.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { type Logger } from '#libs/telemetry/index.js';
import { driveBulkReplays, type WorkflowInvokes } from '#libs/workflow-history/index.js';
import { runnableWorkflows } from '#libs/workflows/index.js';
import { type ControlPlane } from './control-plane.js';
import { invokingWithin, quotaKeeper } from './quotas.js';

/** Replays runs in bulk. For one process at a time. */
export const startBulkReplays = async (
  config: Config,
  plane: ControlPlane,
  workflowInvokes: WorkflowInvokes,
  logger: Logger,
): Promise<RunningWork> => {
  const { engines, views, handleCommand, clock } = plane;
  return driveBulkReplays({
    runHistory: engines.runHistory,
    workflows: runnableWorkflows(views.workflows, engines.blobs),
    invokes: invokingWithin(quotaKeeper(config, plane, logger), workflowInvokes),
    replays: views.bulkReplays,
    blobs: engines.blobs,
    handleCommand,
    clock,
    logger,
  });
};
