import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { apiKey, apiKeyNotFound } from '../domain/api-key.js';

export class RevokeApiKey extends Command<{ readonly position?: Position }> {
  constructor(
    readonly keyId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@CommandHandler(RevokeApiKey)
export class RevokeApiKeyHandler implements ICommandHandler<RevokeApiKey> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ keyId, context }: RevokeApiKey): Promise<{ readonly position?: Position }> {
    if (!isIdOf('key', keyId)) throw apiKeyNotFound(keyId);
    const revoke = { type: 'revoke', keyId, userId: context.actor.userId, now: this.clock.now() } as const;
    const { position } = await this.handleCommand(apiKey, keyId, revoke, context);
    return position === undefined ? {} : { position };
  }
}
