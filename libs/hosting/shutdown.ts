import { type Logger } from '#libs/telemetry/index.js';

/** Shorter than the grace period of supervisors: 30 s with Kubernetes and in docker-compose.yml. */
const GRACE_MS = 20_000;
/** Steps that take at least this long are logged with their duration. */
const SLOW_MS = 200;

/** Closes what the start opened, once and in reverse order: on SIGTERM, on SIGINT, or after a fatal error. */
export class Shutdown {
  private readonly steps: { readonly name: string; readonly close: () => Promise<void> }[] = [];
  begun = false;

  constructor(private readonly logger: Logger) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      // A second signal exits at once.
      process.on(signal, () => (this.begun ? process.exit(1) : void this.run(0)));
    }
  }

  add(name: string, close: () => Promise<void>): void {
    this.steps.push({ name, close });
  }

  /** Ends the process after an error of something that every write needs. The supervisor restarts it. */
  fail(error: Error): void {
    this.logger.fatal({ err: error }, 'process.failed');
    void this.run(1);
  }

  private async run(exitCode: number): Promise<void> {
    if (this.begun) return;
    this.begun = true;
    const startedAt = performance.now();
    const slow: Record<string, number> = {};
    let step = '';
    setTimeout(() => {
      this.logger.error({ graceMs: GRACE_MS, step, slow }, 'shutdown.timed_out');
      process.exit(1);
    }, GRACE_MS).unref();
    for (const { name, close } of this.steps.reverse()) {
      step = name;
      const stepAt = performance.now();
      try {
        await close();
        const ms = Math.round(performance.now() - stepAt);
        if (ms >= SLOW_MS) slow[name] = ms;
      } catch (error) {
        this.logger.error({ err: error, step: name }, 'shutdown.step_failed');
        exitCode = 1;
      }
    }
    this.logger.info({ ms: Math.round(performance.now() - startedAt), exitCode, slow }, 'server.stopped');
    process.exit(exitCode);
  }
}
