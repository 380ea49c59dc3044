import { queryObjects, setFlagsFromString } from 'node:v8';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** What a server tells about itself after a garbage collection. */
export interface Probe {
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly rssBytes: number;
  /** Timers in the heap, those that do not keep the process alive too. */
  readonly timers: number;
  /** Active resources, counted by type, such as Timeout. Without those that do not keep the process alive. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Loaded into a server by `--import`. SIGUSR2 writes a Probe to BENCH_PROBE_DIR as `<number>.json`. */
const arm = (dir: string): void => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const sample = setTimeout(() => undefined, 0);
  const timer = sample.constructor;
  clearTimeout(sample);
  let count = 0;
  process.on('SIGUSR2', () => {
    // The second collection frees what finalizers of the first one let go.
    gc();
    gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    const resources: Record<string, number> = {};
    for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1;
    const timers = queryObjects(timer, { format: 'count' });
    const probe: Probe = { heapBytes: heapUsed, externalBytes: external, rssBytes: rss, timers, resources };
    const file = join(dir, `${++count}.json`);
    writeFileSync(`${file}.part`, JSON.stringify(probe));
    renameSync(`${file}.part`, file);
  });
};

const dir = process.env.BENCH_PROBE_DIR;
if (isMainThread && dir !== undefined) arm(dir);
