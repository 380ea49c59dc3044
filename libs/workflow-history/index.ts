export { workflowHistoryContext } from './context.js';
export { recordRuns, type RecordedRuns } from './record-runs.js';
