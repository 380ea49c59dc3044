import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { webhook } from '../domain/webhook.js';

export class DeleteWebhook extends Command<{ readonly position?: Position }> {
  constructor(
    readonly webhookId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** WebhookCleanUpReactor and DeletedResourceSubscriptionsReactor react to the event and remove topics, keys and subscriptions. */
@CommandHandler(DeleteWebhook)
export class DeleteWebhookHandler implements ICommandHandler<DeleteWebhook> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ webhookId, context }: DeleteWebhook): Promise<{ readonly position?: Position }> {
    const command = { type: 'delete', now: this.clock.now() } as const;
    const { position } = await this.handleCommand(webhook, webhookId, command, context);
    return position === undefined ? {} : { position };
  }
}
