import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { encodeCursor, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { RUN_HISTORY } from '../ports.js';
import { type RunFilter, type RunHistory } from '../run-history.js';
import { ListedRunReply, listedRunRecord, type ListedRunRecord } from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';
import { RUN_FILTERS, runFilterIn } from './run-filter.js';

/** docs/reference/workflows.md#run-list */
@Controller('v1')
export class ListRunsController {
  constructor(
    private readonly shown: ShownRuns,
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
  ) {}

  @Get('workflows/:id/runs')
  @Operation({
    summary: 'Runs of a workflow, newest first',
    paged: true,
    reply: paged(ListedRunReply),
    also: RUN_FILTERS,
  })
  ofWorkflow(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedRunRecord>> {
    return this.list({ workflowId: this.shown.workflow(id, caller).id }, params);
  }

  @Get('runs')
  @Operation({
    summary: 'Runs of all workflows in your workspaces, newest first',
    paged: true,
    reply: paged(ListedRunReply),
    also: RUN_FILTERS,
  })
  ofWorkspaces(
    @Params('body_wins') params: Parameters,
    @CurrentCaller() { workspaceIds }: Caller,
  ): Promise<ListReply<ListedRunRecord>> {
    return this.list({ workspaceIds }, params);
  }

  private async list(of: RunFilter['of'], params: Parameters): Promise<ListReply<ListedRunRecord>> {
    const { runs, total } = await this.history.page({ of, ...runFilterIn(params), ...pageQuery(params) });
    const data = (await this.shown.listed(runs)).map(([run, shown]) => listedRunRecord(run, shown));
    const cursorAt = (index: number): string | null => {
      const run = runs.at(index);
      return run ? encodeCursor(run.place) : null;
    };
    return {
      page_info: { total_count: total, count: data.length, start_cursor: cursorAt(0), end_cursor: cursorAt(-1) },
      data,
    };
  }
}
