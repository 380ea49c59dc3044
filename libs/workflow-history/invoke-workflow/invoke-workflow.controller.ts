import { Controller, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import { type Response } from 'express';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { RequestRepeatId } from '#libs/http/repeat-id.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { one } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ShownWorkflow, WORKFLOW_INVOKES, type WorkflowInvokes } from '../ports.js';
import { arrivedRun } from '../run-history.js';
import { type AnsweredRunRecord, AnsweredRunReply, wholeRunRecord, WholeRunReply } from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';
import { InvokedRuns } from './invoked-runs.js';
import { InvokeWorkflowDto } from './invoke-workflow.dto.js';

/** As of runs without a time limit of their workflow, in seconds. */
const TIMEOUT_S = 30;

/** docs/reference/workflows.md#invoke */
@Controller('v1/workflows/:id/invoke')
export class InvokeWorkflowController {
  constructor(
    private readonly runs: ShownRuns,
    private readonly invoked: InvokedRuns,
    @Inject(WORKFLOW_INVOKES) private readonly invokes: WorkflowInvokes,
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
    const { id: workflowId, workspaceId } = workflow;
    const { event = {} } = params;
    const draftId = draft?.id ?? null;
    const call = { workflowId, workspaceId, event, test, draftId, repeatId: await repeat?.() };
    if (wait) {
      const waitMs = (seconds ?? (timeoutSeconds ?? TIMEOUT_S) + 1) * 1_000;
      const { record, isOver } = await this.invoked.answer({ ...call, waitMs });
      if (isOver) response.status(200);
      return { data: record };
    }
    const { run } = await this.invokes.invoke({ ...call, waitMs: undefined });
    const arrived = arrivedRun(run);
    return { data: wholeRunRecord(arrived, await this.runs.shown(arrived), false) };
  }
}

const notDeployed = ({ id, draft }: ShownWorkflow, test: boolean): DomainError => {
  const other = draft && !test ? ', or run its draft with test=true' : '';
  return new DomainError('workflow.not_deployed', `workflow ${id} was never deployed: deploy it first${other}`, { id });
};

const inactive = ({ id }: ShownWorkflow): DomainError =>
  new DomainError('workflow.inactive', `workflow ${id} is inactive: activate it, or invoke it with test=true`, { id });
