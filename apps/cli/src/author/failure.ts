/** How a command ends (docs/reference/command-line.md#exits). */
export type Exit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** Why a command failed. */
export class CommandFailure extends Error {
  readonly exit: Exclude<Exit, 0>;
  /** One of the API, or of the command, such as `usage` or `no_server`. */
  readonly code: string;
  /** Status of the API's answer. */
  readonly status: number | null;
  readonly details: Readonly<Record<string, unknown>>;
  /** Lines before the message, for people. */
  readonly lines: readonly string[];
  /** Lines after the message, which belong to it. */
  readonly after: readonly string[];
  /** Command that helps. */
  readonly next: string | null;

  constructor({ exit, code, message, status = null, details = {}, lines = [], after = [], next = null }: FailureParts) {
    super(message);
    this.exit = exit;
    this.code = code;
    this.status = status;
    this.details = details;
    this.lines = lines;
    this.after = after;
    this.next = next;
  }

  /** The same failure in other words. */
  withMessage(message: string, lines = this.lines): CommandFailure {
    const { exit, code, status, details, after, next } = this;
    return new CommandFailure({ exit, code, status, details, after, next, message, lines });
  }
}

interface FailureParts {
  readonly exit: Exclude<Exit, 0>;
  readonly code: string;
  readonly message: string;
  readonly status?: number | null;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly lines?: readonly string[];
  readonly after?: readonly string[];
  readonly next?: string | null;
}

/** A wrong command line. */
export const wrongUsage = (message: string, after: readonly string[] = []): CommandFailure =>
  new CommandFailure({ exit: 2, code: 'usage', message, after });

/** Whether what a command asked for is not there, or no longer. */
export const isMissing = (error: unknown): error is CommandFailure =>
  error instanceof CommandFailure && error.exit === 4;
