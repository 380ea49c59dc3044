export { overviewContext } from './context.js';
