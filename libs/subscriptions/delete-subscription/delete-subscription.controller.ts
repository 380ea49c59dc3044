import { Controller, Delete, HttpCode } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { type Caller } from '#libs/http/callers.js';
import { TripleDto, tripleOf } from '../triple.dto.js';
import { DeleteSubscription } from './delete-subscription.handler.js';

@Controller('v1/subscriptions')
export class DeleteSubscriptionController {
  constructor(private readonly commands: CommandBus) {}

  @Delete()
  @Operation({ summary: 'Delete a subscription', query: TripleDto })
  @HttpCode(204)
  async remove(
    @Params('query_wins', TripleDto) triple: TripleDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    // The triple identifies an existing subscription, so search the named workspace, else all of the caller's.
    const contexts = caller.workspaceIds.map(contextIn);
    const { position } = await this.commands.execute(new DeleteSubscription(tripleOf(triple), contexts));
    return new Changed(position);
  }
}
