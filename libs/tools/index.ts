export { toolsContext } from './context.js';
