export { workflowsContext } from './context.js';
export { type DefinitionReader } from './ports.js';
export { workflowChanges } from './workflow-changes.js';
export { privateRunUrlKey } from './private-run-url-key.js';
export { runnableWorkflows, type WorkflowsView } from './workflows-view.js';
