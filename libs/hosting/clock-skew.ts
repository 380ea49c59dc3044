import { type ClockSkew } from '#libs/kernel/common-clock.js';
import { type Logger, type Metrics, type Readiness } from '#libs/telemetry/index.js';
import { type Shutdown } from './shutdown.js';

/** Skew of the wall clock that is reported to the operator. */
const TOLD_MS = 2_000;
const LOOK_MS = 5_000;

export interface SkewListeners {
  readonly readiness: Pick<Readiness, 'note'>;
  readonly metrics: Pick<Metrics, 'sampled'>;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  readonly shutdown: Pick<Shutdown, 'add'>;
}

/**
 * Reports a wall clock that differs by more than 2 s from the one that the processes share, in `/readyz`, a metric and
 * the log (docs/reference/delivery.md#one-clock). Logs the begin and the end.
 */
export const tellClockSkew = (
  clock: ClockSkew,
  { readiness, metrics, logger, shutdown }: SkewListeners,
  lookMs = LOOK_MS,
): void => {
  const skewMs = (): number => clock.skewMs() ?? 0;
  metrics.sampled(
    'sluice_clock_skew_seconds',
    "Seconds by which this process's wall clock is ahead of the one that all processes share",
    () => skewMs() / 1_000,
  );
  readiness.note('clock', () => textOf(skewMs()));
  let isTold = false;
  const look = (): void => {
    const ms = skewMs();
    const isSkewed = Math.abs(ms) > TOLD_MS;
    if (isSkewed === isTold) return;
    isTold = isSkewed;
    const fields = { skewMs: Math.round(ms) };
    if (isSkewed) logger.warn(fields, `clock.skewed: ${textOf(ms)}`);
    else logger.info(fields, 'clock.right: the wall clock agrees with that of MongoDB again');
  };
  look();
  const looking = setInterval(look, lookMs);
  looking.unref();
  shutdown.add('clock', async () => clearInterval(looking));
};

const textOf = (ms: number): string | undefined =>
  Math.abs(ms) > TOLD_MS
    ? `the wall clock is ${Math.abs(ms / 1_000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} that of MongoDB, ` +
      'whose time is used instead: set the clock of this machine'
    : undefined;
