import { auditable } from '#libs/kernel/auditable.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Context } from '#libs/kernel/context.js';
import { bulkReplay, ID_PREFIX } from './bulk/bulk-replay.js';
import { BulkReplaysView } from './bulk/bulk-replays-view.js';
import { DeletedWorkflowRunsReactor, type HistoryCleanUpPorts } from './clean-up/deleted-workflow-runs.reactor.js';
import { WorkflowHistoryModule, type WorkflowHistoryPorts } from './workflow-history.module.js';

export const workflowHistoryContext = {
  ids: ['run'],
  views: (clock: Clock) => ({ bulkReplays: new BulkReplaysView(clock) }),
  auditable: [auditable(ID_PREFIX, bulkReplay)],
  workspaceAudit: [bulkReplay.category],
  reactors: { 'workflow-history': (ports: HistoryCleanUpPorts) => new DeletedWorkflowRunsReactor(ports) },
  module: (ports: WorkflowHistoryPorts) => WorkflowHistoryModule.forRoot(ports),
} as const satisfies Context;
