export { actionsContext } from './context.js';
export { ActionsModule } from './actions.module.js';
