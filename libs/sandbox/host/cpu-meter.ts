/** A process as the meter knows it. */
export interface Metered {
  readonly workspaceId: string;
  /** Runs and hooks that go on, and that were begun since the start. */
  readonly going: number;
  readonly begun: number;
}

interface Reading {
  readonly cpuMs: number;
  readonly at: number;
  readonly begun: number;
  readonly idle: boolean;
  /** Looks in a row at which it was busy without a run. */
  readonly spinning: number;
  readonly spunMs: number;
  readonly spunSince: number;
}

/** Part of a core that a process may use while nothing of its source runs: what it collects, and what it has to end. */
const ALLOWED = 0.2;
const LOOKS = 2;
const MOST_SHOWN = 20;

/** Processor time of processes, as it is looked at from time to time. */
export class CpuMeter {
  private readonly last = new WeakMap<Metered, Reading>();
  private readonly workspaces = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * @param cpuMs all that the process has used; undefined when it cannot be known.
   * @returns what it used when it was busy at several looks in a row, while nothing of its source ran.
   */
  look(process: Metered, cpuMs: number | undefined): { readonly cpuMs: number; readonly overMs: number } | undefined {
    if (cpuMs === undefined) return undefined;
    const at = this.now();
    const before = this.last.get(process);
    const { workspaceId, going, begun } = process;
    const used = Math.max(0, cpuMs - (before?.cpuMs ?? 0));
    this.workspaces.set(workspaceId, (this.workspaces.get(workspaceId) ?? 0) + used);
    const idle = going === 0;
    const wasIdle = before !== undefined && before.idle && idle && before.begun === begun;
    const busy = wasIdle && used > ALLOWED * (at - before.at);
    const spinning = busy ? before.spinning + 1 : 0;
    const spunMs = busy ? before.spunMs + used : 0;
    const spunSince = busy && before.spinning > 0 ? before.spunSince : (before?.at ?? at);
    this.last.set(process, { cpuMs, at, begun, idle, spinning, spunMs, spunSince });
    return spinning >= LOOKS ? { cpuMs: Math.round(spunMs), overMs: Math.round(at - spunSince) } : undefined;
  }

  secondsByWorkspace(): Readonly<Record<string, number>> {
    const most = [...this.workspaces].sort(([, a], [, b]) => b - a).slice(0, MOST_SHOWN);
    return Object.fromEntries(most.map(([id, ms]) => [id, ms / 1_000]));
  }
}
