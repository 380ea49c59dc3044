import { Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { RequestRepeatId } from '#libs/http/repeat-id.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { one } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ShownStep, WORKFLOW_INVOKES, type WorkflowInvokes } from '../ports.js';
import { arrivedRun, type ListedRun } from '../run-history.js';
import { WholeRunReply, wholeRunRecord, type WholeRunRecord } from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';
import { beginReplay, type BegunRefusal } from './begin-replay.js';
import { ReplayRunDto } from './replay-run.dto.js';

/** docs/reference/workflows.md#run-replay */
@Controller('v1/runs/:id/replay')
export class ReplayRunController {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(WORKFLOW_INVOKES) private readonly invokes: WorkflowInvokes,
  ) {}

  @Post()
  @Operation({
    summary: 'Run the event of an ended run again',
    body: ReplayRunDto,
    objects: { event: 'Any JSON that replaces the event, when `from` is `start`' },
    reply: one(WholeRunReply),
    refusals: [409, 413],
  })
  @HttpCode(202)
  async replay(
    @Param('id') id: string,
    @Params('body_wins', ReplayRunDto) { from = 'start', version = 'current' }: ReplayRunDto,
    @Params('body_wins') { event }: Parameters,
    @CurrentCaller() caller: Caller,
    @RequestRepeatId() repeat: RepeatId | undefined,
  ): Promise<{ data: WholeRunRecord }> {
    if (event !== undefined && from !== 'start') throw eventWithSteps(from);
    const run = await this.runs.find(id, caller, 'whole');
    const { workflowId } = run;
    const workflow = this.runs.workflow(workflowId, caller);
    const { begins, steps } = await beginReplay(this.runs.stepsOfVersion, run, workflow, {
      from,
      version,
      event: event === undefined ? null : JSON.stringify(event),
      by: { userId: caller.userId, apiKeyId: caller.apiKeyId },
    });
    if ('refused' in begins) throw refusalOf(begins, run, steps);
    const replay = arrivedRun(await this.invokes.replay(begins, await repeat?.()));
    return { data: wholeRunRecord(replay, await this.runs.shown(replay), false) };
  }
}

const eventWithSteps = (from: string): DomainError =>
  new DomainError(
    'request.invalid_parameter',
    `parameter event replaces the event of a replay from start only; from is ${from}: leave one of them out`,
    { field: 'event', from },
  );

export const noDraft = (id: string): DomainError =>
  new DomainError('workflow.no_draft', `workflow ${id} does not have this draft any more: leave version out`, { id });

const notDeployed = (id: string): DomainError =>
  new DomainError('workflow.not_deployed', `workflow ${id} was never deployed: replay with version=draft`, { id });

export const workflowInactive = (id: string): DomainError =>
  new DomainError('workflow.inactive', `workflow ${id} is inactive: activate it before you replay its runs`, { id });

const refusalOf = (
  refusal: BegunRefusal,
  { id, workflowId, state: { head } }: ListedRun,
  steps: readonly ShownStep[],
): DomainError => {
  const state = head.status;
  switch (refusal.refused) {
    case 'no_draft':
      return noDraft(workflowId);
    case 'not_deployed':
      return notDeployed(workflowId);
    case 'inactive':
      return workflowInactive(workflowId);
    case 'not_finished':
      return new DomainError('run.not_finished', `run ${id} is ${state}: only a run that has ended can be replayed`, {
        id,
        state,
      });
    case 'nothing_failed':
      return new DomainError('run.nothing_failed', `run ${id} has not failed (it is ${state}): name a step in from`, {
        id,
        state,
      });
    case 'event_not_kept':
      return new DomainError(
        'run.event_not_kept',
        `the event of run ${id} was too large to be kept: send one as event, with from=start`,
        { id },
      );
    case 'step_not_reached': {
      const { namespace } = refusal;
      const message = steps.some((step) => step.namespace === namespace)
        ? `run ${id} has no outcome of step ${namespace} that the replay could reuse: begin there, or before it`
        : `the version to run has no step ${namespace}: begin at one of its steps`;
      return new DomainError('run.step_not_reached', message, { id, namespace });
    }
  }
};
