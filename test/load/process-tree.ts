import { readdirSync, readFileSync } from 'node:fs';
import { types } from 'node:util';

/**
 * Usage of a process and all its descendants. It includes jailed ones, because the host sees them under its own process
 * ids.
 */
export interface TreeUsage {
  readonly processes: number;
  /** User and system time in µs, in steps of 10 ms. Ended children are counted with their parent. */
  readonly cpuUs: number;
  /** CPU time of the process itself, without its descendants. */
  readonly mainCpuUs: number;
  readonly mainRssMb: number;
  readonly childrenRssMb: number;
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Ticks of the process itself and of its ended children. */
  readonly ownTicks: number;
  readonly reapedTicks: number;
  readonly rssPages: number;
}

const TICK_US = 10_000;
const PAGE_MB = 4_096 / (1024 * 1024);

export const treeUsage = (pid: number): TreeUsage => {
  const tree = treeOf(pid);
  const rss = (stats: readonly Stat[]): number => stats.reduce((sum, { rssPages }) => sum + rssPages * PAGE_MB, 0);
  return {
    processes: tree.length,
    cpuUs: tree.reduce((sum, { ownTicks, reapedTicks }) => sum + (ownTicks + reapedTicks) * TICK_US, 0),
    mainCpuUs: (tree[0]?.ownTicks ?? 0) * TICK_US,
    mainRssMb: rss(tree.slice(0, 1)),
    childrenRssMb: rss(tree.slice(1)),
  };
};

/** Memory of the tree, with shared pages divided among their users. Slow; NaN where reading it is forbidden. */
export const treePssMb = (pid: number): number =>
  treeOf(pid).reduce((sum, stat) => {
    const text = readIfThere(`/proc/${stat.pid}/smaps_rollup`);
    const kb = /^Pss: +(\d+) kB$/m.exec(text ?? '')?.[1];
    return sum + (text === undefined ? 0 : Number(kb ?? NaN) / 1024);
  }, 0);

/** Lists the process itself first. */
const treeOf = (pid: number): readonly Stat[] => {
  const byParent = new Map<number, Stat[]>();
  const all = readAll();
  for (const stat of all) byParent.set(stat.parent, [...(byParent.get(stat.parent) ?? []), stat]);
  const main = all.find((stat) => stat.pid === pid);
  if (!main) throw new Error(`process ${pid} is not running`);
  const tree = [main];
  for (const stat of tree) tree.push(...(byParent.get(stat.pid) ?? []));
  return tree;
};

const readAll = (): Stat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)));

/** Returns undefined when the process ended between listing and reading, '' when reading is forbidden. */
const readIfThere = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    // An error of another realm, such as Jest's, is no instance of this one's Error.
    const code = types.isNativeError(error) && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    if (code === 'EACCES' || code === 'EPERM') return '';
    throw error;
  }
};

const readStat = (pid: number): Stat[] => {
  const text = readIfThere(`/proc/${pid}/stat`);
  if (text === undefined) return [];
  // The name, in parentheses, may contain blanks. Then follow state, ppid, … (man 5 proc).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const field = (number: number): number => fields[number - 3] ?? 0;
  const [ownTicks, reapedTicks] = [field(14) + field(15), field(16) + field(17)];
  return [{ pid, parent: field(4), ownTicks, reapedTicks, rssPages: field(24) }];
};
