export { workflowsContext } from './context.js';
export { type DefinitionReader } from './ports.js';
