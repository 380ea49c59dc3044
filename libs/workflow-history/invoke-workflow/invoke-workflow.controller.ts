import { Controller, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { type Response } from 'express';
import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { RequestRepeatId } from '#libs/http/repeat-id.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { one } from '#libs/http/replies.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { hasEnded, type RunState } from '#libs/workflow-runs/run-state.js';
import { RUN_HISTORY, type ShownWorkflow, WORKFLOW_INVOKES, type WorkflowInvokes } from '../ports.js';
import { arrivedRun, type ListedRun, type RunHistory } from '../run-history.js';
import {
  type AnsweredRunRecord,
  AnsweredRunReply,
  answeredRunRecord,
  wholeRunRecord,
  WholeRunReply,
} from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';
import { InvokeWorkflowDto } from './invoke-workflow.dto.js';

/** Milliseconds between two looks at the history, which has a change of a run a moment later. */
const LOOK_MS = 50;
/** Longest time between two looks before the run has answered. */
const UNASKED_LOOK_MS = 1_000;
/** As of runs without a time limit of their workflow, in seconds. */
const TIMEOUT_S = 30;

/** docs/reference/workflows.md#invoke */
@Controller('v1/workflows/:id/invoke')
export class InvokeWorkflowController {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
    @Inject(WORKFLOW_INVOKES) private readonly invokes: WorkflowInvokes,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @Operation({
    summary: 'Start a run of a workflow',
    body: InvokeWorkflowDto,
    objects: { event: 'Event of the run; `{}` by default' },
    reply: one(WholeRunReply),
    replies: { 200: { description: 'With `wait=true`', schema: one(AnsweredRunReply) } },
    refusals: [409, 413],
  })
  @HttpCode(202)
  async invoke(
    @Param('id') w: string,
    @Params('body_wins', InvokeWorkflowDto) body: InvokeWorkflowDto,
    @Params('body_wins') params: Parameters,
    @Res({ passthrough: true }) response: Response,
    @CurrentCaller() caller: Caller,
    @RequestRepeatId() repeat: RepeatId | undefined,
  ): Promise<{ data: AnsweredRunRecord }> {
    const { wait = false, test = false, wait_seconds: seconds } = body;
    const workflow = this.runs.workflow(w, caller);
    const draft = test ? workflow.draft : null;
    if (workflow.deploymentId === null && !draft) throw notDeployed(workflow, test);
    if (!workflow.active && !test) throw inactive(workflow);
    const { timeoutSeconds } = (draft ?? workflow).settings;
    const waitMs = wait ? (seconds ?? (timeoutSeconds ?? TIMEOUT_S) + 1) * 1_000 : undefined;
    const until = this.clock.now() + (waitMs ?? 0);
    const { id: workflowId, workspaceId } = workflow;
    const { event = {} } = params;
    const { run, answered } = await this.invokes.invoke({
      workflowId,
      workspaceId,
      event,
      test,
      draftId: draft?.id ?? null,
      waitMs,
      repeatId: await repeat?.(),
    });
    const arrived = arrivedRun(run);
    if (!wait) return { data: wholeRunRecord(arrived, await this.runs.shown(arrived), false) };
    const isOver = await this.isOver(arrived.id, until, answered);
    if (isOver) response.status(200);
    const found = (await this.history.whole(arrived.id)) ?? arrived;
    return { data: answeredRunRecord(found, await this.runs.shown(found)) };
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

const notDeployed = ({ id, draft }: ShownWorkflow, test: boolean): DomainError => {
  const other = draft && !test ? ', or run its draft with test=true' : '';
  return new DomainError('workflow.not_deployed', `workflow ${id} was never deployed: deploy it first${other}`, { id });
};

const inactive = ({ id }: ShownWorkflow): DomainError =>
  new DomainError('workflow.inactive', `workflow ${id} is inactive: activate it, or invoke it with test=true`, { id });
