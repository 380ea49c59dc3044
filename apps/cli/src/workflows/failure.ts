import { type Outcome } from './outcome.js';

/** Why a command failed, for `outcome.ts` to print. */
export class CommandFailure extends Error {
  readonly exit: Exclude<Outcome['exit'], 0>;
  /** One of the API, or `usage`, `no_key`, `no_server`. */
  readonly code: string;
  /** Status of the API's answer. */
  readonly status: number | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Lines before the message, for people. */
  readonly lines: readonly string[];

  constructor({ exit, code, message, status = null, details = {}, lines = [] }: FailureParts) {
    super(message);
    this.exit = exit;
    this.code = code;
    this.status = status;
    this.details = details;
    this.lines = lines;
  }
}

interface FailureParts {
  readonly exit: Exclude<Outcome['exit'], 0>;
  readonly code: string;
  readonly message: string;
  readonly status?: number | null;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly lines?: readonly string[];
}
