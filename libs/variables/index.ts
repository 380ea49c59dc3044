export { variablesContext } from './context.js';
export { WorkspaceVariables } from './workspace-variables.js';
