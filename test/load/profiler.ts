import { Session } from 'node:inspector/promises';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a role by `--import`. SIGUSR2 starts a CPU profile of the main thread. The next one ends it and writes it
 * to BENCH_PROFILE_DIR as `<role>-<pid>.cpuprofile`. So the profile excludes start-up and shutdown.
 */
const SAMPLE_US = 500;

const roleOf = (main: string): string => basename(dirname(dirname(main)));

const arm = (dir: string): void => {
  let session: Session | undefined;
  const toggle = async (): Promise<void> => {
    if (!session) {
      session = new Session();
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
      await session.post('Profiler.start');
      return;
    }
    const running = session;
    session = undefined;
    const { profile } = await running.post('Profiler.stop');
    running.disconnect();
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, `${roleOf(process.argv[1] ?? '')}-${process.pid}.cpuprofile`), JSON.stringify(profile));
  };
  process.on('SIGUSR2', () => {
    toggle().catch((error: unknown) => process.stderr.write(`no profile: ${String(error)}\n`));
  });
};

const dir = process.env.BENCH_PROFILE_DIR;
if (isMainThread && dir !== undefined) arm(dir);
