import { Controller, Get, Param } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { integerFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import {
  integer,
  listOf,
  milliseconds,
  named,
  nullable,
  object,
  oneOf,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { memberOf } from '#libs/http/workspace.js';
import { type CountedMinute } from '#libs/tenancy/published.js';
import { PROBLEM_KINDS } from './problems.js';
import { MOST_MINUTES, StatsOfWorkspaces, type WorkspaceStats } from './workspace-stats.js';

/** See docs/reference/rest-api.md#workspace-stats. */
const WorkspaceStatsReply = named('WorkspaceStats', {
  now: milliseconds('Epoch milliseconds at which it was computed'),
  points: listOf(
    object({
      at: milliseconds('Epoch milliseconds at which the minute begins'),
      arrivals: integer('Requests to endpoints and to URLs of runs that were taken'),
      runs: integer('Runs of sources and actions, and of steps of workflows'),
      errors: integer('Those of them that failed'),
      events: integer('Events that sources emitted'),
      attempts: integer('Attempts at deliveries'),
      failed: integer('Deliveries that were given up'),
    }),
    'A point a minute, the present one last',
  ),
  waiting: object(
    {
      invocations: nullable(integer('Events whose runs have not ended; null where sources share their lanes')),
      emits: nullable(integer('Emitted events that no listener has got; null where sources share their lanes')),
      deliveries: integer('Deliveries that are not ended'),
    },
    'Work that is not done yet',
  ),
  oldest_waiting_s: nullable(
    integer('Seconds since the oldest of them was stored; null without one, and where it is not known'),
  ),
  sources: integer('Number of sources'),
  webhooks: integer('Number of webhooks'),
  problems: listOf(
    object({
      kind: oneOf(PROBLEM_KINDS, 'What is wrong'),
      subject: text('Id of the resource, or of the workspace'),
      name: nullable(text('Name of the resource')),
      message: text('For people'),
      since: nullable(milliseconds('Epoch milliseconds of the last sign of it; null for what is so now')),
    }),
    'What someone should attend to, at most 100, the newest first',
  ),
});

class StatsDto {
  @Meaning('Minutes to show, from 1 to 60; 60 is the default')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  @Max(MOST_MINUTES)
  minutes?: number;
}

/** An extension: what goes on in a workspace. */
@Controller('v1')
export class GetStatsController {
  constructor(private readonly stats: StatsOfWorkspaces) {}

  @Get(['orgs/:id/stats', 'workspaces/:id/stats'])
  @Operation({ summary: 'What goes on in a workspace', query: StatsDto, reply: one(WorkspaceStatsReply) })
  async get(
    @Param('id') id: string,
    @Params('query_wins', StatsDto) { minutes }: StatsDto,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: TypeOf<typeof WorkspaceStatsReply> }> {
    return { data: statsReply(await this.stats.of(memberOf(caller, id)), minutes ?? MOST_MINUTES) };
  }
}

const statsReply = (
  { now, minutes, waiting, sources, webhooks, problems }: WorkspaceStats,
  shown: number,
): TypeOf<typeof WorkspaceStatsReply> => {
  const { invocations, emits, deliveries, oldestAt } = waiting;
  return {
    now,
    points: minutes.slice(-shown).map(pointOf),
    waiting: { invocations, emits, deliveries },
    oldest_waiting_s: oldestAt === null ? null : Math.max(0, Math.floor((now - oldestAt) / 1_000)),
    sources,
    webhooks,
    problems,
  };
};

const MINUTE_MS = 60_000;

const pointOf = ({ minute, arrivals, runs, errors, events, attempts, failed }: CountedMinute) => ({
  at: minute * MINUTE_MS,
  arrivals,
  runs,
  errors,
  events,
  attempts,
  failed,
});
