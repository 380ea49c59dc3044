/** Ports of the actions context. The composition root provides them under these tokens. */
import { type DeployableComponent } from '../components/published.js';
import { type ActionRunRequest } from './published.js';

/** Provides `ActionRunner` of published.ts. */
export const ACTION_RUNNER = Symbol('ActionRunner');
export const ACTION_PLANNER = Symbol('ActionPlanner');

/** Checks configured props by the rules of sources (docs/reference/component-model.md#action-props). */
export type ActionPlanner = (
  component: DeployableComponent,
  configuredProps: unknown,
  now: number,
) => Pick<ActionRunRequest, 'definition' | 'secrets'>;
