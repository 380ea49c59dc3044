import { type ActionFacts } from './action-run.js';

/** What one call asks of a component, beside the runs and hooks of a source (docs/reference/component-model.md#calls). */
export type ComponentCall =
  /** Runs an action. */
  { readonly kind: 'action'; readonly facts: ActionFacts };
