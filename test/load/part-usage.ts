import { treeUsage, type TreeUsage } from './process-tree.js';

/** A process of a target. Several may have one name, as the copies of a role do. */
export interface Part {
  readonly name: string;
  readonly pid: number;
}

export interface PartUsage {
  readonly name: string;
  /** Sandboxes: descendants of a part, counted separately. */
  readonly isSandbox: boolean;
  readonly processes: number;
  readonly cpuUs: number;
  readonly rssMb: number;
}

/** Sums by name, in the order of first appearance. */
export const usageOf = (parts: readonly Part[]): readonly PartUsage[] => {
  const byName = new Map<string, PartUsage>();
  const add = (usage: PartUsage): void => {
    const before = byName.get(usage.name);
    byName.set(usage.name, before ? sumOf(before, usage) : usage);
  };
  for (const { name, pid } of parts) {
    const { processes, cpuUs, mainCpuUs, mainRssMb, childrenRssMb } = treeUsage(pid);
    add({ name, isSandbox: false, processes: 1, cpuUs: mainCpuUs, rssMb: mainRssMb });
    // Needed even when none is alive any more. Their time is counted with their parent and must not be lost.
    if (processes > 1 || cpuUs > mainCpuUs) {
      const sandboxes = { name: `${name}: sandboxes`, isSandbox: true, processes: processes - 1 };
      add({ ...sandboxes, cpuUs: cpuUs - mainCpuUs, rssMb: childrenRssMb });
    }
  }
  return [...byName.values()];
};

const sumOf = (a: PartUsage, b: PartUsage): PartUsage => ({
  ...a,
  processes: a.processes + b.processes,
  cpuUs: a.cpuUs + b.cpuUs,
  rssMb: a.rssMb + b.rssMb,
});

/** Sums as one tree, with sandboxes as its children. */
export const totalOf = (parts: readonly PartUsage[]): TreeUsage => {
  const sum = (of: (part: PartUsage) => number, among = parts): number =>
    among.reduce((total, part) => total + of(part), 0);
  const own = parts.filter(({ isSandbox }) => !isSandbox);
  return {
    processes: sum(({ processes }) => processes),
    cpuUs: sum(({ cpuUs }) => cpuUs),
    mainCpuUs: sum(({ cpuUs }) => cpuUs, own),
    mainRssMb: sum(({ rssMb }) => rssMb, own),
    childrenRssMb: sum(
      ({ rssMb }) => rssMb,
      parts.filter(({ isSandbox }) => isSandbox),
    ),
  };
};

/** The later reading, with the CPU time since the earlier one. */
export const cpuSince = (before: readonly PartUsage[], after: readonly PartUsage[]): readonly PartUsage[] =>
  after.map((part) => ({
    ...part,
    cpuUs: part.cpuUs - (before.find(({ name }) => name === part.name)?.cpuUs ?? 0),
  }));
