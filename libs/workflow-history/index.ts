export { workflowHistoryContext } from './context.js';
export { RUN_HISTORY_GROUP, recordRuns, type RecordedRuns } from './record-runs.js';
export { type RunSteering } from './ports.js';
