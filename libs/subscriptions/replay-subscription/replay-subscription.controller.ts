import { Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { integerFromText } from '#libs/http/from-text.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params, validated } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { integer, milliseconds, named, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { findSubscription } from '../find-subscription.js';
import { REPLAYS, type Replays } from '../ports.js';
import { CancelReplay } from './cancel-replay.handler.js';
import { ReplaySubscription, type StartedReplay } from './replay-subscription.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class ReplayDto {
  @Meaning('Event id from which the range begins, included; the oldest by default')
  @IsOptional()
  @IsString()
  start_id?: string | null;

  @Meaning('Event id at which the range ends, included; the newest by default')
  @IsOptional()
  @IsString()
  end_id?: string | null;

  @Meaning('The source whose events are sent (`dc_…`); needed for a subscription to many emitters')
  @IsOptional()
  @IsString()
  emitter_id?: string | null;

  /** Events a second. */
  @Meaning('Events a second; 10 by default')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  @Max(100)
  rate?: number | null;
}

const RATE = 10;

/** See docs/reference/rest-api.md#subscription-replay. */
const ReplayReply = named('Replay', {
  id: text('`rpl_…`; a webhook gets it as `x-pd-replay`'),
  subscription_id: text('`sub_…`'),
  emitter_id: text('What emitted the events: `dc_…`'),
  start_id: text('Id of the first event of the range'),
  end_id: text('Id of the last event of the range'),
  events: integer('Kept events of the range; the filter of the subscription may leave some out'),
  rate: integer('Events a second'),
  started_at: milliseconds('Epoch milliseconds'),
  ends_at: milliseconds('Epoch milliseconds at which the last event is due'),
});

const Waiting = named('ReplayProgress', {
  subscription_id: text('`sub_…`'),
  waiting: integer('Events of the replay that are still to be sent; 0 when none runs'),
});

const replayReply = (subscriptionId: string, replay: StartedReplay): TypeOf<typeof ReplayReply> => ({
  id: replay.replayId,
  subscription_id: subscriptionId,
  emitter_id: replay.emitterId,
  start_id: replay.startId,
  end_id: replay.endId,
  events: replay.events,
  rate: replay.rate,
  started_at: replay.startedAt,
  ends_at: replay.endsAt,
});

@Controller('v1/subscriptions/:id/replay')
export class ReplaySubscriptionController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(REPLAYS) private readonly replays: Replays,
  ) {}

  /** Answers once the events are scheduled; they follow at the rate. */
  @Post()
  @Operation({
    summary: 'Pass kept events on to the listener of a subscription again',
    body: ReplayDto,
    reply: one(ReplayReply),
  })
  @HttpCode(202)
  async start(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: TypeOf<typeof ReplayReply> }>> {
    // The subscription comes first, so that a request for an unknown one is answered 404 even with wrong parameters.
    const subscription = await findSubscription(this.readModels, caller.workspaceIds, id);
    const { start_id, end_id, emitter_id, rate } = await validated(ReplayDto, params);
    const request = {
      ...(start_id ? { startId: start_id } : {}),
      ...(end_id ? { endId: end_id } : {}),
      ...(emitter_id ? { emitterId: emitter_id } : {}),
      rate: rate ?? RATE,
    };
    const context = contextIn(subscription.workspaceId);
    const replay = await this.commands.execute(new ReplaySubscription(subscription, request, context));
    return new Changed(replay.position, { data: replayReply(id, replay) });
  }

  @Get()
  @Operation({ summary: 'What of a replay is still to be sent', reply: one(Waiting) })
  async progress(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<{ data: TypeOf<typeof Waiting> }> {
    await findSubscription(this.readModels, caller.workspaceIds, id);
    return { data: { subscription_id: id, waiting: await this.replays.waiting(id) } };
  }

  @Delete()
  @Operation({ summary: 'Cancel a replay' })
  @HttpCode(204)
  async cancel(
    @Param('id') id: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { workspaceId } = await findSubscription(this.readModels, caller.workspaceIds, id);
    const { position } = await this.commands.execute(new CancelReplay(id, contextIn(workspaceId)));
    return new Changed(position);
  }
}
