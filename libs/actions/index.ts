export { actionsContext } from './context.js';
