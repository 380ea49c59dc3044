export { variablesContext } from './context.js';
