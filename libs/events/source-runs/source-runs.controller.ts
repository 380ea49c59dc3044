import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { encodeCursor, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one, paged } from '#libs/http/replies.js';
import { type KnownSources, sourceInPath } from '#libs/http/source-in-path.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { shownId } from '#libs/kernel/ids.js';
import { eventSummary } from '../event-summary.js';
import { EMITTERS } from '../ports.js';
import { type EventDoc } from '../read-models/event-summaries.projection.js';
import { RUN_FILTERS, runFilterIn } from './run-filter.js';
import {
  SourceRunReply,
  type SourceRunRecord,
  WholeSourceRunReply,
  type WholeSourceRunRecord,
} from './source-run-reply.js';
import { type ShownRun, SourceRuns } from './source-runs.js';

/** docs/reference/rest-api.md#source-runs */
@Controller('v1/sources/:id/runs')
export class SourceRunsController {
  constructor(
    private readonly runs: SourceRuns,
    @Inject(EMITTERS) private readonly emitters: KnownSources,
  ) {}

  @Get()
  @Operation({
    summary: 'Runs of a source, newest first',
    paged: true,
    reply: paged(SourceRunReply),
    also: RUN_FILTERS,
  })
  async list(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<SourceRunRecord>> {
    const { sourceId } = sourceInPath(this.emitters, id, caller);
    const { limit, after, before } = pageQuery(params);
    const all = await this.runs.newest(sourceId, runFilterIn(params));
    const rest = all.filter(
      ({ sort }) => (after === undefined || sort < after) && (before === undefined || sort > before),
    );
    const page = before !== undefined && after === undefined ? rest.slice(-limit) : rest.slice(0, limit);
    const cursorAt = (index: number): string | null => {
      const run = page.at(index);
      return run ? encodeCursor(run.sort) : null;
    };
    return {
      page_info: { total_count: all.length, count: page.length, start_cursor: cursorAt(0), end_cursor: cursorAt(-1) },
      data: page.map((run) => ({ ...fieldsOf(run), emits: run.emits, logs: run.logs })),
    };
  }

  @Get(':runId')
  @Operation({ summary: 'A run of a source with its events and log lines', reply: one(WholeSourceRunReply) })
  async get(
    @Param('id') id: string,
    @Param('runId') runId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: WholeSourceRunRecord }> {
    const { sourceId } = sourceInPath(this.emitters, id, caller);
    const run = await this.runs.find(sourceId, runId);
    if (!run) {
      const shown = shownId(runId);
      const message = `source ${sourceId} has no run ${shown}, or it is no longer kept${otherKindHint(runId, 'inv')}`;
      throw new DomainError('run.not_found', message, { id: shown });
    }
    const { emits, logs } = await this.runs.leftBy(sourceId, run);
    const emitsKept = emits.length + run.delayed >= run.emits && logs.length >= run.logs;
    const shownOf = (docs: readonly EventDoc[]) =>
      docs.map((doc) => eventSummary({ doc, event: doc.short, truncated: doc.payloadBytes > 0 }));
    return { data: { ...fieldsOf(run), emits: shownOf(emits), logs: shownOf(logs), emits_kept: emitsKept } };
  }
}

const fieldsOf = (run: ShownRun) => ({
  id: run.id,
  kind: run.kind,
  status: run.status,
  queued_at_ms: run.queuedAt,
  started_at_ms: run.startedAt,
  ms: run.ms,
  error: run.error && { name: run.error.name, message: run.error.message },
  http_status: run.httpStatus,
  attempts: run.attempts,
});
