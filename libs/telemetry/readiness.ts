import { withDeadline } from '#libs/async/deadline.js';
import { messageOf } from '#libs/kernel/error-message.js';

export const READINESS = Symbol('Readiness');

/** Returns undefined when all is well, else the problem in one sentence. A rejection is a failure too. */
export type Check = () => string | undefined | Promise<string | undefined>;

export interface ReadinessReport {
  readonly status: 'ready' | 'not_ready';
  /** `ok` or the problem, by name of the check. A note is not `ok` although the process is ready. */
  readonly checks: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 2000;

/** Runs the checks whether this process can work, such as reachable engines and projections that have caught up. */
export class Readiness {
  private readonly checks = new Map<string, Check>();
  private readonly notes = new Map<string, () => string | undefined>();

  constructor(private readonly timeoutMs = TIMEOUT_MS) {}

  register(name: string, check: Check): void {
    if (this.checks.has(name)) throw new Error(`readiness check ${name} is already registered`);
    this.checks.set(name, check);
  }

  /** Reports a problem that the operator should know and the process tolerates, so it stays ready. */
  note(name: string, read: () => string | undefined): void {
    this.notes.set(name, read);
  }

  async report(): Promise<ReadinessReport> {
    const results = await Promise.all(
      [...this.checks].map(async ([name, check]) => [name, (await this.run(check)) ?? 'ok'] as const),
    );
    const ready = results.every(([, result]) => result === 'ok');
    const notes = [...this.notes].map(([name, read]) => [name, read() ?? 'ok'] as const);
    return { status: ready ? 'ready' : 'not_ready', checks: Object.fromEntries([...results, ...notes]) };
  }

  private async run(check: Check): Promise<string | undefined> {
    const late = (): Error => new Error(`no answer after ${this.timeoutMs} ms`);
    try {
      return await withDeadline(Promise.resolve(check()), this.timeoutMs, late);
    } catch (error) {
      return messageOf(error);
    }
  }
}
