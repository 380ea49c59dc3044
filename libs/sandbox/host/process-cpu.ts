import { readFileSync } from 'node:fs';
import { types } from 'node:util';

/** Length of a clock tick in /proc. It is 10 ms on every Linux. */
const TICK_MS = 10;
/** Upper bound on the processes counted. A jail has a handful. */
const MOST_PROCESSES = 64;

/** CPU time of a process and its descendants, including ended ones. Undefined where there is no /proc. */
export const cpuMsOf = (pid: number): number | undefined => {
  let sum: number | undefined;
  const pids = [pid];
  for (let i = 0; i < pids.length && i < MOST_PROCESSES; i++) {
    const each = pids[i] ?? pid;
    const own = ticksOf(textOf(`/proc/${each}/stat`));
    if (own === undefined) continue;
    sum = (sum ?? 0) + own * TICK_MS;
    for (const child of textOf(`/proc/${each}/task/${each}/children`).split(' '))
      if (child !== '') pids.push(Number(child));
  }
  return sum;
};

/** Sums utime, stime, cutime and cstime, the fields 14 to 17. The second field is the name and may contain anything. */
const ticksOf = (stat: string): number | undefined => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return fields.length < 15 || Number.isNaN(ticks) ? undefined : ticks;
};

/** Reads a file of /proc. Empty when the process has ended. */
const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (types.isNativeError(error)) return '';
    throw error;
  }
};
