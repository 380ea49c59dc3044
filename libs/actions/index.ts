export { ActionsModule } from './actions.module.js';
export { type ActionPlanner } from './ports.js';
