import { existsSync } from 'node:fs';
import { pause } from '#libs/async/pause.js';
import { systemClock } from '#libs/kernel/clock.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { DEFAULT_CODE_LIMITS } from '../ports.js';
import { BuildProgress, writeBuildStatus } from './build-progress.js';
import { registryFolder } from './registry-folder.js';
import { type RegistrySync } from './registry-sync.js';

/** Interval of reading the folder. */
const EVERY_MS = 5_000;
const TELL_MS = 1_000;
const LOG_EVERY = 10;
/** Refused files that the log names. */
const MOST_NAMED = 50;

interface Logger {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface KeptRegistryOptions {
  readonly dir: string;
  readonly sync: Pick<RegistrySync, 'sync'>;
  readonly logger: Logger;
  readonly everyMs?: number;
}

/** Keeps the registry equal to its folder, from now on and in the background. For one process at a time. */
export const keepRegistry = ({ dir, sync, logger, everyMs = EVERY_MS }: KeptRegistryOptions): RunningWork => {
  const abort = new AbortController();
  const folder = registryFolder(dir, DEFAULT_CODE_LIMITS);
  let synced: string | undefined;

  const look = async (): Promise<void> => {
    // A folder that is missing leaves the registry as it is, because a disk may not be mounted yet.
    if (!existsSync(dir)) return;
    const fingerprint = await folder.fingerprint();
    if (fingerprint === synced) return;
    const startedAt = performance.now();
    const progress = new BuildProgress(() => systemClock.now());
    const told = tellProgress(dir, progress, logger);
    const { refused, ...counts } = await sync
      .sync(folder, abort.signal, progress)
      .finally(() => told.stop(!abort.signal.aborted));
    if (abort.signal.aborted) return;
    synced = fingerprint;
    for (const { path: file, reason } of refused.slice(0, MOST_NAMED))
      logger.warn({ file, reason }, 'registry.refused');
    const ms = Math.round(performance.now() - startedAt);
    logger.info({ dir, ...counts, refused: refused.length, ms }, 'registry.synced');
  };

  const run = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      try {
        await look();
      } catch (error) {
        logger.error({ err: error, dir }, 'registry.failed');
      }
      await pause(everyMs, abort.signal);
    }
  };
  const running = run();
  return {
    async stop() {
      abort.abort();
      await running;
    },
  };
};

/**
 * Reports the progress while the registry is built: every second in a file beside its files for `sluice registry list`,
 * and every ten in the log. A folder that the server may not write to has no such file, which the log reports once.
 */
const tellProgress = (
  dir: string,
  progress: BuildProgress,
  logger: Logger,
): { stop(hasEnded: boolean): Promise<void> } => {
  let writing: Promise<void> = Promise.resolve();
  let [times, isRefused] = [0, false];
  const write = (hasEnded: boolean): Promise<void> =>
    (writing = writing.then(async () => {
      try {
        await writeBuildStatus(dir, progress.status(hasEnded));
      } catch (error) {
        if (!isRefused) logger.warn({ dir, err: error }, 'registry.progress_not_written');
        isRefused = true;
      }
    }));
  void write(false);
  const timer = setInterval(() => {
    void write(false);
    if (++times % LOG_EVERY === 0) logger.info({ dir, ...progress.counts() }, 'registry.building');
  }, TELL_MS);
  return {
    async stop(hasEnded) {
      clearInterval(timer);
      await write(hasEnded);
    },
  };
};
