import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { account } from '../domain/account.js';

export class DisconnectAccount extends Command<{ readonly position?: Position }> {
  constructor(
    readonly accountId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** AccountCleanUpReactor removes the credentials. */
@CommandHandler(DisconnectAccount)
export class DisconnectAccountHandler implements ICommandHandler<DisconnectAccount> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ accountId, context }: DisconnectAccount): Promise<{ readonly position?: Position }> {
    const command = { type: 'disconnect', now: this.clock.now() } as const;
    const { position } = await this.handleCommand(account, accountId, command, context);
    return position === undefined ? {} : { position };
  }
}
