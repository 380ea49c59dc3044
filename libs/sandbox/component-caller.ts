/** Port through which one function of a component is called on demand (docs/reference/component-model.md#calls). */
import { type ComponentCall } from '../component-model/component-call.js';
import { type ConfigurableProp } from '../component-model/component-metadata.js';
import { type LogLine, type UserError } from '../component-model/run-output.js';
import { type BoundProp } from './sandbox.js';

export interface CallRequest {
  readonly workspaceId: string;
  /** Host path of the one-file bundle. */
  readonly bundleFile: string;
  readonly props: Readonly<Record<string, BoundProp>>;
  /** Props that additionalProps added or changed. */
  readonly dynamicProps?: readonly ConfigurableProp[];
  /** Texts that must not show in logs and errors. */
  readonly secrets?: readonly string[];
  readonly call: ComponentCall;
  /** Default: the time limit of a call. */
  readonly timeoutMs?: number;
}

export interface CallOutcome {
  /** `killed` means that the process ended during the call (timeout, memory, exit, protocol breach). */
  readonly status: 'ok' | 'threw' | 'killed';
  /** JSON text of the answer. Set with status `ok`. Its shape is the component's word, which the caller checks. */
  readonly value?: string;
  readonly error?: UserError;
  readonly logs: readonly LogLine[];
}

export interface ComponentCaller {
  /**
   * Makes one call in a process of its own. Resolves even when the component fails. Rejects with DomainError
   * component.too_many_calls or component.calls_overloaded when the call would have to wait and the queue is full.
   */
  call(request: CallRequest): Promise<CallOutcome>;
}
