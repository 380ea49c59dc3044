export { ActionsModule } from './actions.module.js';
