/** What a command prints and how it ends (docs/reference/workflows.md#files-exits). */
export interface Outcome {
  readonly exit: 0 | 1 | 2 | 6;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

export interface Failure {
  readonly exit: Exclude<Outcome['exit'], 0>;
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** Lines before the message, for people. */
  readonly lines?: readonly string[];
}

/** An error leaves standard output empty. With `json` it is one line of JSON. */
export const failed = ({ exit, code, message, details = {}, lines = [] }: Failure, json: boolean): Outcome => ({
  exit,
  out: [],
  err: json
    ? [JSON.stringify({ error: message, code, status: null, details, next: null })]
    : [...lines, `sluice: ${message}`],
});

export const finish = ({ exit, out, err }: Outcome): void => {
  for (const line of err) process.stderr.write(`${line}\n`);
  for (const line of out) process.stdout.write(`${line}\n`);
  process.exitCode = exit;
};
