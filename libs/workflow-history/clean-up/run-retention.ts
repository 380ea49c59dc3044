import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { type RunHistory, type RunSurplus } from '../run-history.js';

export interface RetainedWorkflow {
  readonly id: string;
  readonly workspaceId: string;
  readonly settings: {
    /** Null: the defaults of the server. */
    readonly dataRetention: 'none' | { readonly runs: number | null; readonly days: number | null } | null;
  };
}

export interface RetentionPorts {
  readonly runHistory: Pick<RunHistory, 'surplus' | 'remove'>;
  readonly workflows: {
    find(workflowId: string): RetainedWorkflow | undefined;
    all(): Iterable<RetainedWorkflow, undefined>;
  };
  readonly kept: RunsKept;
  readonly clock: Clock;
  readonly logger: { error(fields: object, text: string): void };
}

/** Ended runs that a workflow keeps by default, and bytes of all runs of a workspace. */
export interface RunsKept {
  readonly runs: number;
  readonly days: number;
  readonly workspaceBytes: number;
}

const PASS_MS = 2_000;
/** Runs of one removal. Other writes go between two of them. */
const AT_ONCE = 100;
/** Removals of one workflow, or workspace, in a pass. */
const REMOVALS = 40;
/** Workflows in which no run ended that a pass looks at, in turn: runs grow old, and settings change. */
const SWEPT = 200;
const DAY_MS = 86_400_000;
/** Milliseconds after its end in which an invocation that waits for a run that is not kept can read it. */
const LAST_READ_MS = 5_000;
/** More runs than any workflow has. */
const ALL = 1_000_000_000;

/**
 * Removes ended runs that are not kept (docs/reference/workflows.md#retention). Several processes may do so at once,
 * because a removal can be repeated.
 */
export class RunRetention {
  /** When a run of each workflow was last heard to have ended. */
  private due = new Map<string, number>();
  private round: Iterator<RetainedWorkflow, undefined> | undefined;
  private readonly closing = new AbortController();
  private readonly passes: Promise<void>;

  constructor(private readonly ports: RetentionPorts) {
    this.passes = this.run();
  }

  /** A run of the workflow has ended, so an older one may have to go. */
  ended(workflowId: string): void {
    this.due.set(workflowId, this.ports.clock.now());
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.passes;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    for (;;) {
      await pause(PASS_MS, signal, { ref: false });
      if (signal.aborted) return;
      await this.pass();
    }
  }

  private async pass(): Promise<void> {
    const workflows = this.next();
    const ended = this.due;
    this.due = new Map();
    const workspaces = new Map<string, string>();
    for (const workflow of workflows) {
      const endedAt = ended.get(workflow.id) ?? -Infinity;
      const isLater = keepsNone(workflow) && this.ports.clock.now() - endedAt <= LAST_READ_MS;
      if (isLater) this.due.set(workflow.id, endedAt);
      await this.trim(workflow.id, this.surplusOf(workflow));
      workspaces.set(workflow.workspaceId, workflow.id);
    }
    const { workspaceBytes: bytes } = this.ports.kept;
    for (const [workspaceId, workflowId] of workspaces) await this.trim(workflowId, { workspaceId, bytes });
  }

  private next(): readonly RetainedWorkflow[] {
    const { workflows } = this.ports;
    const found = new Map<string, RetainedWorkflow>();
    for (const id of this.due.keys()) {
      const workflow = workflows.find(id);
      if (workflow) found.set(id, workflow);
    }
    this.round ??= workflows.all()[Symbol.iterator]();
    for (let swept = 0; swept < SWEPT; swept++) {
      const next = this.round.next();
      if (next.done === true) {
        this.round = undefined;
        break;
      }
      found.set(next.value.id, next.value);
    }
    return [...found.values()];
  }

  private surplusOf({ id, settings: { dataRetention } }: RetainedWorkflow): RunSurplus {
    const { kept, clock } = this.ports;
    if (dataRetention === 'none') return { workflowId: id, runs: ALL, since: clock.now() - LAST_READ_MS };
    const { runs, days } = dataRetention ?? kept;
    return { workflowId: id, runs: runs ?? kept.runs, since: clock.now() - (days ?? kept.days) * DAY_MS };
  }

  /** What is left after the removals of one pass, or after a failure, is due in the next. */
  private async trim(workflowId: string, surplus: RunSurplus): Promise<void> {
    const { runHistory, clock, logger } = this.ports;
    try {
      for (let removals = 0; removals < REMOVALS; removals++) {
        if (this.closing.signal.aborted) return;
        const ids = await runHistory.surplus(surplus, AT_ONCE);
        await runHistory.remove(ids);
        if (ids.length < AT_ONCE) return;
      }
    } catch (error) {
      logger.error({ workflowId, error: messageOf(error) }, 'run_history.not_trimmed: tried again in 2 s');
    }
    this.due.set(workflowId, clock.now());
  }
}

export const keepsNone = ({ settings }: RetainedWorkflow): boolean => settings.dataRetention === 'none';
