/** What a run says: each of these crosses from its process to the server. */

export interface EmitCall {
  /** JSON text; `null` for undefined. */
  readonly payload: string;
  /** Empty for the default channel. */
  readonly channel: string;
  readonly id?: string | number;
  readonly summary?: string;
  /** Epoch milliseconds. */
  readonly ts?: number;
}

/** `k` is `console.log`, `console.error`, …; `ts` epoch milliseconds (decisions.md 1.8). */
export interface LogLine {
  readonly k: string;
  readonly ts: number;
  readonly msg: string;
}

export interface HttpReply {
  /** 100-599. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Base64 when `base64`. */
  readonly body: string;
  readonly base64: boolean;
}

export interface UserError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The thrown error's own `code` when it is text, else its name; platform words: Timeout, OutOfMemory, ProcessExited, FunctionPayloadLimitExceeded. */
  readonly code: string;
}
