import { Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { ReadYourWritesGate } from '#libs/http/read-your-writes-gate.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { subscriptionReply } from '../subscription-reply.js';
import { TripleDto, tripleOf } from '../triple.dto.js';
import { CreateSubscription } from './create-subscription.handler.js';

@Controller('v1/subscriptions')
export class CreateSubscriptionController {
  constructor(
    @Inject(CommandBus) private readonly commands: CommandBus,
    @Inject(ReadYourWritesGate) private readonly gate: ReadYourWritesGate,
  ) {}

  /** Idempotent. The same triple returns the existing subscription. */
  @Post()
  @Operation({ summary: 'Subscribe a listener to an emitter', query: TripleDto })
  @HttpCode(200)
  async create(
    @Params('query_wins', TripleDto) triple: TripleDto,
    @Context() contextIn: ContextIn,
    @Res({ passthrough: true }) response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: ReturnType<typeof subscriptionReply> }> {
    const context = contextIn(workspaceOf(caller));
    const { subscription, position } = await this.commands.execute(new CreateSubscription(tripleOf(triple), context));
    await this.gate.answerAfter(response, position);
    return { data: subscriptionReply(subscription) };
  }
}
