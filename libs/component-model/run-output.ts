/** Output of a run. Each of these types crosses from its process to the server. */

export interface EmitCall {
  /** JSON text, `null` for undefined. */
  readonly payload: string;
  /** Empty for the default channel. */
  readonly channel: string;
  readonly id?: string | number;
  readonly summary?: string;
  /** Epoch milliseconds. */
  readonly ts?: number;
  /** Epoch milliseconds at which the event goes out. A time in the past means at once. */
  readonly deliverAt?: number;
}

/** An emit as the caller of a manual run hears of it. */
export interface ToldEmit {
  readonly channel: string;
  /** JSON text. */
  readonly payload: string;
  readonly summary: string | null;
  /** Why no event came of it. */
  readonly dropped: 'dedupe' | null;
}

/**
 * Kind of the lines that warn an author of what was accepted and lost (docs/reference/component-model.md#log-warnings).
 */
export const WARNING = 'warning';

/** One line for `$logs` (docs/reference/component-model.md#log-lines). */
export interface LogLine {
  /** `console.log`, `console.error`, `warning`, … */
  readonly k: string;
  /** Epoch milliseconds. */
  readonly ts: number;
  readonly msg: string;
}

export interface HttpReply {
  /** 100-599. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Base64 text when `base64` is true. */
  readonly body: string;
  readonly base64: boolean;
}

export interface UserError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /**
   * The thrown error's own `code` when it is text, else its name. Codes of the platform: Timeout, OutOfMemory,
   * ProcessExited, FunctionPayloadLimitExceeded.
   */
  readonly code: string;
  /** Cause of the error, if it has one. */
  readonly cause?: UserError;
  /** Parts of an AggregateError. */
  readonly errors?: readonly UserError[];
  /** Topmost place of the stack within the author's files. Absent in causes and parts. */
  readonly place?: ErrorPlace;
}

/** Place in a file that the author uploaded. */
export interface ErrorPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** JSON-ready causes and parts of an error (docs/reference/component-model.md#error-causes). */
export const causesOf = ({ cause, errors }: UserError): Readonly<Record<string, unknown>> => ({
  ...(cause === undefined ? {} : { cause: partOf(cause) }),
  ...(errors === undefined ? {} : { errors: errors.map(partOf) }),
});

const partOf = (error: UserError): Readonly<Record<string, unknown>> => {
  const { name, message, stack, code } = error;
  return { name, message, stack, code, ...causesOf(error) };
};
