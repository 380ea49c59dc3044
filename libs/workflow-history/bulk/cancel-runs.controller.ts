import { Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { RequestRepeatId } from '#libs/http/repeat-id.js';
import { one } from '#libs/http/replies.js';
import { integer, named } from '#libs/http/reply-schema.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { type Clock } from '#libs/kernel/clock.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { RUN_CANCELS, RUN_HISTORY, type RunCancels } from '../ports.js';
import { type RunHistory } from '../run-history.js';
import { ShownRuns } from '../shown-runs.js';
import { FILTER_MEANING, runSelectorIn, selectedRuns, SelectRunsDto } from './run-selector.js';

const CancelledRuns = named('CancelledRuns', { matched: integer('Number of unfinished runs that are cancelled') });

/** docs/reference/workflows.md#bulk-cancel */
@Controller('v1/workflows/:id/runs/cancel')
export class CancelRunsController {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
    @Inject(RUN_CANCELS) private readonly cancels: RunCancels,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @Operation({
    summary: 'Cancel unfinished runs of a workflow',
    body: SelectRunsDto,
    objects: { filter: FILTER_MEANING },
    reply: one(CancelledRuns),
  })
  @HttpCode(202)
  async cancel(
    @Param('id') w: string,
    @Params('body_wins', SelectRunsDto) selection: SelectRunsDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @RequestRepeatId() repeat: RepeatId | undefined,
  ): Promise<{ data: { matched: number } }> {
    const { id: workflowId, workspaceId } = this.runs.workflow(w, caller);
    const selector = runSelectorIn(selection, params);
    const runs: string[] = [];
    for await (const run of selectedRuns(this.history, workflowId, selector, ['queued', 'running', 'waiting']))
      runs.push(run.id);
    const now = this.clock.now();
    const cause = (await repeat?.()) ?? newId('inv', now);
    const { userId, apiKeyId } = caller;
    if (runs.length > 0)
      await this.cancels.cancelRuns({ workflowId, workspaceId, runs, by: { userId, apiKeyId }, cause, now });
    return { data: { matched: runs.length } };
  }
}
