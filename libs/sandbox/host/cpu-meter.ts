/** Process as the meter sees it. */
export interface Metered {
  readonly workspaceId: string;
  /** Runs and hooks in progress. */
  readonly going: number;
  /** Runs and hooks begun since the process started. */
  readonly begun: number;
}

interface Reading {
  readonly cpuMs: number;
  readonly at: number;
  readonly begun: number;
  readonly idle: boolean;
  /** Number of consecutive looks at which the process was busy without a run. */
  readonly spinning: number;
  readonly spunMs: number;
  readonly spunSince: number;
}

/** Share of a core that a process may use while its source has no run, for garbage collection and clean-up. */
const ALLOWED = 0.2;
const LOOKS = 2;
const MOST_SHOWN = 20;

/** Samples the CPU time of processes and finds processes that are busy without a run. */
export class CpuMeter {
  private readonly last = new WeakMap<Metered, Reading>();
  private readonly workspaces = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * @param cpuMs total CPU time of the process, or undefined when it cannot be read.
   * @returns CPU time of a process that was busy without a run at several consecutive looks.
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
