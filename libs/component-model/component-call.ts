import { type ActionFacts } from './action-run.js';
import { type LogLine, type UserError } from './run-output.js';
import { type StepAnswer, type StepFacts } from './step-run.js';

/** A call of a component besides the runs and hooks of a source (docs/reference/component-model.md#calls). */
export type ComponentCall =
  /** Calls the `options` of one prop. */
  | {
      readonly kind: 'options';
      readonly prop: string;
      /** Counts from 0. */
      readonly page: number;
      /** The `context` of the last reply, or `{}`. */
      readonly prevContext: unknown;
      readonly query?: string;
    }
  /** Calls `additionalProps`. */
  | { readonly kind: 'additional_props' }
  /** Calls `eventNames` of a prop of type `$.interface.apphook`. Its value is an EventNamesAnswer. */
  | { readonly kind: 'event_names'; readonly prop: string }
  /** Runs an action. Its value is an ActionAnswer. */
  | { readonly kind: 'action'; readonly facts: ActionFacts }
  /** Runs the code of a workflow's step. Its answer is the `step` of the outcome. */
  | { readonly kind: 'step'; readonly facts: StepFacts };

/** Value of a call of kind `options`, as JSON. */
export interface OptionsAnswer {
  /** What the component returned for the list. */
  readonly options: readonly unknown[];
  /** Absent when the component returned a bare list. */
  readonly context?: unknown;
}

/** Value of a call of kind `event_names`, as JSON. */
export interface EventNamesAnswer {
  /** What the component returned; null when it has no `eventNames`. */
  readonly eventNames: unknown;
}

/** Code of the error of a call that names no prop of the component. */
export const NO_SUCH_PROP = 'NoSuchProp';
/** Code of the error of a call for the options of a prop that has none to call. */
export const NO_OPTIONS_METHOD = 'NoOptionsMethod';

export interface CallOutcome {
  /** `killed` means that the process ended during the call (timeout, memory, exit, protocol breach). */
  readonly status: 'ok' | 'threw' | 'killed';
  /** JSON text of the answer, with status `ok`. The component determines its shape, so the caller checks it. */
  readonly value?: string;
  /** Of a call of kind `step`, with every status. */
  readonly step?: StepAnswer;
  readonly error?: UserError;
  /** Of a call of kind `step`: its process ended because of another run, or by a stop. */
  readonly interrupted?: true;
  readonly logs: readonly LogLine[];
}
