import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Cgroups } from './cgroups.js';
import { findProgram } from './host-programs.js';
import { type SpawnPlan } from './jail-level.js';
import { type Protection } from './promises.js';

const run = promisify(execFile);

/** Of 1,000: well above any server, below what an operator marks as first to go. */
const OOM_SCORE = 500;
const RAISE = `echo ${OOM_SCORE} > /proc/self/oom_score_adj`;

/** What each process of a level does to itself before it becomes the jail: it joins its cgroup and gives up its standing. */
export interface Entry {
  readonly shell: string;
  readonly raisesOomScore: boolean;
  /** Null where the host offers none. */
  readonly cgroups: Cgroups | null;
}

/** Entries that this host may allow, most protective first. */
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

/** The command that enters, by cgroup files open from the descriptor `first`, and then is the plan's. */
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
    // The files were opened with the server's rights, so that a process without any may go in, and only in.
    ...fds.flatMap((fd) => [`echo 0 >&${fd}`, `exec ${fd}>&-`]),
    'exec "$@"',
  ];
  return { file: entry.shell, args: ['-c', script.join('\n'), 'enter', file, ...args] };
};
