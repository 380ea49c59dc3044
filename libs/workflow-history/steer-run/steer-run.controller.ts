import { Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { pause } from '#libs/async/pause.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { hasEnded } from '#libs/workflow-runs/run-state.js';
import { RUN_STEERING, type RunSteering, type SteeringRequest } from '../ports.js';
import { type ListedRun } from '../run-history.js';
import { WholeRunReply, wholeRunRecord, type WholeRunRecord } from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';

/** Longest wait until the history has what the runner has answered. */
const HISTORY_MS = 10_000;
const AGAIN_MS = 20;

/** docs/reference/workflows.md#run-cancel and #run-resume */
@Controller('v1/runs/:id')
export class SteerRunController {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(RUN_STEERING) private readonly steering: RunSteering,
  ) {}

  @Post('cancel')
  @Operation({ summary: 'Cancel an unfinished run', reply: one(WholeRunReply), refusals: [409] })
  @HttpCode(200)
  async cancel(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<{ data: WholeRunRecord }> {
    const { run } = await this.steer(id, caller, { kind: 'cancel' });
    const { status: state } = run.state.head;
    // An ended run does not change, so its state says whether this request, or one before, cancelled it.
    if (state === 'cancelled') return this.shown(run, caller);
    throw new DomainError('run.finished', `run ${id} is ${state}: only an unfinished run can be cancelled`, {
      id,
      state,
    });
  }

  @Post('resume')
  @Operation({
    summary: 'End the wait of a run now',
    objects: { data: 'Body of what the waiting step gets: any JSON' },
    reply: one(WholeRunReply),
    refusals: [409],
  })
  @HttpCode(200)
  async resume(
    @Param('id') id: string,
    @Params('body_wins') { data }: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: WholeRunRecord }> {
    const { run, ended } = await this.steer(id, caller, { kind: 'resume', data });
    if (ended) return this.shown(run, caller);
    const { status: state } = run.state.head;
    throw new DomainError('run.not_waiting', `run ${id} does not wait (it is ${state} now)`, { id, state });
  }

  /** @returns the run with what the request did, and whether that ended a wait. */
  private async steer(
    id: string,
    caller: Caller,
    change: SteeringRequest['change'],
  ): Promise<{ readonly run: ListedRun; readonly ended: boolean }> {
    const found = await this.runs.find(id, caller, 'find');
    const { workflowId, workspaceId, state } = found;
    if (hasEnded(state)) return { run: found, ended: false };
    const { userId, apiKeyId } = caller;
    const request = { runId: id, workflowId, workspaceId, by: { userId, apiKeyId }, change };
    const { result, version } = await this.steering.steer(request);
    // The journal drops only ended runs, and the history then shows the end.
    const hasIt = (run: ListedRun): boolean => (result === 'unknown' ? hasEnded(run.state) : run.version >= version);
    return { run: await this.whenIt(hasIt, id, caller), ended: result === 'ends' };
  }

  private async whenIt(hasIt: (run: ListedRun) => boolean, id: string, caller: Caller): Promise<ListedRun> {
    for (const until = performance.now() + HISTORY_MS; performance.now() < until; await pause(AGAIN_MS)) {
      const run = await this.runs.find(id, caller, 'find');
      if (hasIt(run)) return run;
    }
    const message = `run ${id} has changed, and its record does not show it yet: read it again`;
    throw new DomainError('platform.unavailable', message, { id, waited_ms: HISTORY_MS });
  }

  private async shown({ id }: ListedRun, caller: Caller): Promise<{ data: WholeRunRecord }> {
    const run = await this.runs.find(id, caller, 'whole');
    return { data: wholeRunRecord(run, await this.runs.shown(run), false) };
  }
}
