import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { momentsIn } from '#libs/http/moment.js';
import { paged } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { attemptReply, Delivery } from '../attempt-reply.js';
import { attemptSortOf } from '../read-models/attempts.projection.js';
import { type AttemptFilter, ListDeliveries } from './list-deliveries.query.js';

@Controller('v1/webhooks/:id/deliveries')
export class ListDeliveriesController {
  constructor(private readonly queries: QueryBus) {}

  /**
   * Lists the last attempts, newest first (docs/reference/rest-api.md#deliveries-list). Without a limit the page holds
   * all attempts that are kept.
   */
  @Get()
  @Operation({
    summary: 'The last attempts of a webhook, newest first',
    paged: true,
    reply: paged(Delivery),
    also: {
      outcome: 'Only attempts with this outcome: success, retry or final',
      status: 'Only attempts that were answered with this status',
      since: 'Time in epoch seconds or milliseconds, or an ISO 8601 time: attempts that began then or later',
      until: 'The same for the last attempt',
    },
  })
  async list(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<TypeOf<typeof Delivery>>> {
    const page = pageQuery({ limit: 100, ...params }, attemptSortOf);
    const asked = new ListDeliveries(id, caller.workspaceIds, page, filterIn(params));
    return listReply(await this.queries.execute(asked), attemptReply);
  }
}

const OUTCOMES = ['success', 'retry', 'final'];

const filterIn = (params: Parameters): AttemptFilter => {
  const [outcome, status] = [given(params['outcome']), given(params['status'])];
  if (outcome !== undefined && !OUTCOMES.includes(outcome))
    throw invalid('outcome', outcome, `must be one of ${OUTCOMES.join(', ')}`);
  if (status !== undefined && !/^[1-5]\d\d$/.test(status))
    throw invalid('status', status, 'must be a status from 100 to 599');
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(status === undefined ? {} : { status: Number(status) }),
    ...momentsIn(params),
  };
};

const given = (value: unknown): string | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : String(describe(value));
};

const invalid = (field: string, actual: string, text: string): DomainError =>
  new DomainError('request.invalid_parameter', `parameter ${field} ${text}; got ${String(describe(actual))}`, {
    field,
    actual: describe(actual),
  });
