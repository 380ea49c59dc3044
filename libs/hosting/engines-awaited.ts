import { pause } from '#libs/async/pause.js';
import { withDeadline } from '#libs/async/deadline.js';
import { type Logger, type Readiness } from '#libs/telemetry/index.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { RefusedStart } from '#libs/config/refused-start.js';

/** Engines that are servers. */
export interface CheckedEngines {
  /** Checks of `/readyz`, by name of the engine. `ping` rejects within 2 s with the problem. */
  readonly checks: readonly { readonly name: string; ping(): Promise<void> }[];
}

const RETRY_MS = 1_000;
const LINE_MS = 1_000;
/** Shorter than the timeout of /readyz, so that it can name the engine that does not answer. */
const PING_MS = 1_500;

/** Waits for engines that are not available yet, with a log line per second. /readyz names engines that fail later. */
export class EnginesAwaited {
  private readonly missing = new Map<string, string>();
  private engines: CheckedEngines | undefined;

  constructor(
    private readonly logger: Logger,
    readiness: Readiness,
    private readonly shutdown: { readonly begun: boolean },
  ) {
    readiness.register('engines', async () => {
      const problems = this.engines ? await unreachable(this.engines) : [...this.missing.values()];
      return problems.length === 0 ? undefined : problems.join('; ');
    });
  }

  async until<T>(engine: string, open: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let reason = 'no answer yet';
    const missing = (): void => void this.missing.set(engine, `${engine}: ${reason}`);
    missing();
    const lines = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      this.logger.warn({ engine, seconds, reason }, `waiting for ${engine}`);
    }, LINE_MS);
    try {
      for (;;) {
        try {
          const opened = await open();
          this.missing.delete(engine);
          return opened;
        } catch (error) {
          if (this.shutdown.begun || error instanceof RefusedStart) throw error;
          reason = messageOf(error);
          missing();
          await pause(RETRY_MS);
        }
      }
    } finally {
      clearInterval(lines);
    }
  }

  watch(engines: CheckedEngines): void {
    this.engines = engines;
  }
}

const unreachable = async ({ checks }: CheckedEngines): Promise<string[]> => {
  const results = await Promise.all(
    checks.map(async (check) => {
      try {
        await withDeadline(check.ping(), PING_MS, () => new Error(`no answer within ${PING_MS} ms`));
        return [];
      } catch (error) {
        return [`${check.name}: ${messageOf(error)}`];
      }
    }),
  );
  return results.flat();
};
