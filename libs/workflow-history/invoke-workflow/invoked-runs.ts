import { Inject, Injectable } from '@nestjs/common';
import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { hasEnded, type RunState } from '#libs/workflow-runs/run-state.js';
import { RUN_HISTORY, WORKFLOW_INVOKES, type WorkflowInvokes } from '../ports.js';
import { type ToolRuns } from '../published.js';
import { arrivedRun, type ListedRun, type RunHistory } from '../run-history.js';
import { type AnsweredRunRecord, answeredRunRecord } from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';

/** Milliseconds between two looks at the history, which has a change of a run a moment later. */
const LOOK_MS = 50;
/** Longest time between two looks before the run has answered. */
const UNASKED_LOOK_MS = 1_000;

type Call = Parameters<WorkflowInvokes['invoke']>[0] & { readonly waitMs: number };

/** Starts runs of workflows, and waits for them. */
@Injectable()
export class InvokedRuns implements ToolRuns {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
    @Inject(WORKFLOW_INVOKES) private readonly invokes: WorkflowInvokes,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Resolves with the run once it has ended or waits (`isOver`), or after the time. Throws as WorkflowInvokes. */
  async answer(call: Call): Promise<{ readonly record: AnsweredRunRecord; readonly isOver: boolean }> {
    const until = this.clock.now() + call.waitMs;
    const { run, answered } = await this.invokes.invoke(call);
    const arrived = arrivedRun(run);
    const isOver = await this.isOver(arrived.id, until, answered);
    const found = (await this.history.whole(arrived.id)) ?? arrived;
    return { record: answeredRunRecord(found, await this.runs.shown(found)), isOver };
  }

  async call(call: Parameters<ToolRuns['call']>[0]): Promise<AnsweredRunRecord> {
    return (await this.answer({ ...call, test: false, draftId: null })).record;
  }

  /**
   * Resolves with true once the run has ended or waits, which may be after its caller has its answer. A run that waits for
   * a retry, and one that an earlier try of this request began, gives no answer, so this looks now and then without one.
   */
  private async isOver(id: string, until: number, answered: Promise<unknown>): Promise<boolean> {
    const backoff = new Backoff({ firstMs: LOOK_MS, longestMs: UNASKED_LOOK_MS });
    let hasAnswer = false;
    const answer = answered.then(() => {
      hasAnswer = true;
    });
    for (;;) {
      const found: ListedRun | undefined = await this.history.find(id);
      if (found && rests(found.state)) return true;
      if (this.clock.now() >= until) return false;
      await (hasAnswer ? pause(LOOK_MS) : Promise.race([answer, pause(backoff.next())]));
    }
  }
}

const rests = (state: RunState): boolean => hasEnded(state) || state.head.wait !== null;
