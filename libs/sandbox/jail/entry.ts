import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Cgroups } from './cgroups.js';
import { findProgram } from './host-programs.js';
import { type SpawnPlan } from './jail-level.js';
import { type Protection } from './promises.js';

const run = promisify(execFile);

/** Score out of 1,000. Well above any server, and below processes that an operator marks to be killed first. */
const OOM_SCORE = 500;
const RAISE = `echo ${OOM_SCORE} > /proc/self/oom_score_adj`;

/** Steps of each process before it becomes the jail: it joins its cgroup and raises its OOM score. */
export interface Entry {
  readonly shell: string;
  readonly raisesOomScore: boolean;
  /** Null where the host offers none. */
  readonly cgroups: Cgroups | null;
}

/** Entries that this host may allow, strongest first. */
export const findEntries = async (cgroups: Cgroups | string): Promise<readonly Entry[]> => {
  const shell = await findProgram('sh').catch(() => null);
  if (shell === null) return [];
  const raisesOomScore = await run(shell, ['-c', RAISE]).then(
    () => true,
    () => false,
  );
  const plain = raisesOomScore ? [{ shell, raisesOomScore, cgroups: null }] : [];
  const limited = typeof cgroups === 'string' ? [] : [{ shell, raisesOomScore, cgroups }];
  return [...limited, ...plain];
};

export const carriedBy = ({ raisesOomScore, cgroups }: Entry): Protection[] => {
  const controllers = cgroups?.controllers ?? [];
  return [
    ...(raisesOomScore ? (['oom_priority'] as const) : []),
    ...(controllers.includes('memory') ? (['memory'] as const) : []),
    ...(controllers.includes('pids') ? (['processes'] as const) : []),
  ];
};

/** Command that joins the cgroups, open from descriptor `first` on, and then runs the plan's command. */
export const entered = (
  entry: Entry | undefined,
  first: number,
  cgroupFiles: number,
  { file, args }: Pick<SpawnPlan, 'file' | 'args'>,
): { readonly file: string; readonly args: readonly string[] } => {
  if (!entry) return { file, args };
  const fds = Array.from({ length: cgroupFiles }, (_, index) => first + index);
  const script = [
    'set -e',
    ...(entry.raisesOomScore ? [RAISE] : []),
    // The server opened the files, so an unprivileged process can join these cgroups and no others.
    ...fds.flatMap((fd) => [`echo 0 >&${fd}`, `exec ${fd}>&-`]),
    'exec "$@"',
  ];
  return { file: entry.shell, args: ['-c', script.join('\n'), 'enter', file, ...args] };
};
