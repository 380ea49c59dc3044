import { Controller, Delete, HttpCode, Inject, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { ReadYourWritesGate } from '#libs/http/read-your-writes-gate.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { type Caller } from '#libs/http/callers.js';
import { TripleDto, tripleOf } from '../triple.dto.js';
import { DeleteSubscription } from './delete-subscription.handler.js';

@Controller('v1/subscriptions')
export class DeleteSubscriptionController {
  constructor(
    @Inject(CommandBus) private readonly commands: CommandBus,
    @Inject(ReadYourWritesGate) private readonly gate: ReadYourWritesGate,
  ) {}

  @Delete()
  @Operation({ summary: 'Delete a subscription', query: TripleDto })
  @HttpCode(204)
  async remove(
    @Params('query_wins', TripleDto) triple: TripleDto,
    @Context() contextIn: ContextIn,
    @Res({ passthrough: true }) response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    // The triple identifies an existing subscription, so search the named workspace, else all of the caller's.
    const contexts = caller.workspaceIds.map(contextIn);
    const { position } = await this.commands.execute(new DeleteSubscription(tripleOf(triple), contexts));
    await this.gate.answerAfter(response, position);
  }
}
