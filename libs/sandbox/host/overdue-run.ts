import { type RunCollector } from './run-collector.js';

/**
 * Finds the run that exceeded its time limit. Returns 'unknown' when a run that could start has not reported its start.
 * Something has then blocked the whole process since its last record (Uplink.spill).
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
