import { type RunCollector } from './run-collector.js';

/**
 * The run that overstays; 'unknown' when one that could start is not even heard to have started: then something blocks
 * the whole process since the last word from it (Uplink.spill).
 */
export const overdueOf = (
  runs: Iterable<RunCollector>,
  { now, lastHeardAt, concurrency }: { now: number; lastHeardAt: number; concurrency: number },
): RunCollector | 'unknown' | undefined => {
  let free = concurrency;
  const next: RunCollector[] = [];
  for (const run of runs) {
    if (!run.started) next.push(run);
    else if (run.ranFor(now) >= run.timeoutMs) return run;
    else if (!run.beside) free--;
  }
  const isStuck = (run: RunCollector): boolean => now - Math.max(run.sentAt, lastHeardAt) >= run.timeoutMs;
  return next.slice(0, Math.max(free, 0)).some(isStuck) ? 'unknown' : undefined;
};
