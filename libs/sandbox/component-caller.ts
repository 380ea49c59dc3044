/** Port through which one function of a component is called on demand (docs/reference/component-model.md#calls). */
import { type CallOutcome, type ComponentCall } from '#libs/component-model/component-call.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type BoundProp, type Bundle, type CallListener, type SandboxPackages } from './sandbox.js';

export interface CallRequest extends CallListener {
  readonly workspaceId: string;
  /**
   * Calls of one workspace with the same key may use one process, one after the other. The key names the code and
   * everything else with which the process is started. Absent: the process ends with the call.
   */
  readonly key?: string;
  /**
   * Of a code step. The code steps of one workspace with the same name and variables share one process and its files,
   * also at the same time. The name names the workflow and the packages beside the bundle. The object of the variables is
   * never changed. `key` is not read.
   */
  readonly shared?: { readonly name: string; readonly env: Readonly<Record<string, string>> };
  readonly bundle: Bundle;
  /** Installs the packages that the bundle requires while it runs, when a process is started. Absent for none. */
  readonly packages?: (() => Promise<SandboxPackages>) | undefined;
  readonly props: Readonly<Record<string, BoundProp>>;
  /** Props that additionalProps added or changed. */
  readonly dynamicProps?: readonly ConfigurableProp[];
  /** Heap of the process, which `key` and `shared.name` must tell. Default: that of the server. */
  readonly memoryMb?: number;
  /** Texts that must not show in logs and errors. */
  readonly secrets?: readonly string[];
  readonly call: ComponentCall;
  /** Default: the time limit of a call. */
  readonly timeoutMs?: number;
}

export interface ComponentCaller {
  /**
   * Makes one call in a process that serves no other call at that time, but for code steps. Resolves even when the component fails. Rejects
   * with DomainError component.too_many_calls or component.calls_overloaded when the call would have to wait and the
   * queue is full, and with the error of `packages`.
   */
  call(request: CallRequest): Promise<CallOutcome>;
}
