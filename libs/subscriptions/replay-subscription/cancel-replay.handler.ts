import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { subscription } from '../domain/subscription.js';

export class CancelReplay extends Command<{ readonly position?: Position }> {
  constructor(
    readonly subscriptionId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Cancels a replay. Events in transit still arrive. Throws subscription.no_replay. */
@CommandHandler(CancelReplay)
export class CancelReplayHandler implements ICommandHandler<CancelReplay> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ subscriptionId, context }: CancelReplay): Promise<{ readonly position?: Position }> {
    const command = { type: 'cancel_replay', now: this.clock.now() } as const;
    const { position } = await this.handleCommand(subscription, subscriptionId, command, context);
    return position === undefined ? {} : { position };
  }
}
