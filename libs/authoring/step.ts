import { type AnyValue, type HttpReply } from './values.js';

/** What `run` of an action gets. */
export interface ActionEvent {
  $: Step;
  /** What earlier steps of the workflow exported, by their names, and `trigger`. */
  steps: Record<string, AnyValue>;
  /** The event of the workflow's run. */
  event?: AnyValue;
}

export interface Step {
  /** Exports a value under a name, as JSON. `$summary` is shown in lists. */
  export(name: string, value: unknown): void;
  /** Answers the caller of the workflow. The first call counts. */
  respond(reply?: HttpReply): Promise<void>;
  flow: StepFlow;
  send: StepSends;
  context: StepContext;
}

interface Urls {
  resume_url: string | null;
  cancel_url: string | null;
  confirm_url?: string | null;
}

/** How the run goes on after the step. The last call counts. */
export interface StepFlow {
  exit(reason?: unknown): void;
  delay(ms: number): Urls;
  /** Waits for a call of `resume_url`. Without one the run is cancelled after that time, 24 hours by default. */
  suspend(ms?: number): Urls;
  /** Runs the step again, with `context` as `$.context.run.context`. */
  rerun(ms: number, context?: unknown, maxRetries?: number): Urls;
  /** Gives the step its whole time from now on, and returns its end in epoch milliseconds. */
  refreshTimeout(): number;
  /** Starts another workflow, by its id or by `ext:` and its external id. */
  trigger(workflow: string, payload?: unknown): Promise<{ id: string }>;
}

/** Messages that are sent once the outcome of the step is stored. */
export interface StepSends {
  http(request: {
    url: string;
    method?: string;
    data?: unknown;
    headers?: Record<string, AnyValue>;
    params?: Record<string, AnyValue>;
    auth?: { username: string; password: string };
    /** Sends a failed request again. */
    retry?: boolean;
  }): void;
  email(message: { subject: string; text?: string; html?: string }): void;
  emit(event: { raw_event: unknown; event?: unknown }): void;
  s3(object: { bucket: string; prefix: string; payload: unknown }): void;
  sse(message: { channel: string; payload: unknown }): void;
}

export interface StepContext {
  id: string;
  /** In ISO 8601. */
  ts: string;
  trace_id: string;
  owner_id: string;
  /** End of the step's time, in epoch milliseconds. */
  deadline: number;
  run: { runs: number; context?: AnyValue };
  test: boolean;
  replay: boolean;
  /** Null in a single run of an action. */
  workflow_id: string | null;
  [field: string]: AnyValue;
}
