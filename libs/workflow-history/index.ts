export { workflowHistoryContext } from './context.js';
export { type RunsKept } from './clean-up/run-retention.js';
export { driveBulkReplays } from './bulk/drive-bulk-replays.js';
export { isWaitOver } from './is-wait-over.js';
export { whenShown } from './when-shown.js';
export { RUN_HISTORY_GROUP, recordRuns, recordsInto, type RecordedRuns } from './record-runs.js';
export { type RunSteering, type WorkflowInvokes } from './ports.js';
