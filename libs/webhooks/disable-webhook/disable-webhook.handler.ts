import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { systemContext } from '#libs/kernel/system-context.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { webhook } from '../domain/webhook.js';

/** Command of the delivery worker after the endpoint answered 410 or failed for too long. */
export class DisableWebhook extends Command<void> {
  constructor(
    readonly webhookId: string,
    readonly workspaceId: string,
    readonly reason: string,
  ) {
    super();
  }
}

/** Does the work of `DisableWebhook` in a process without a command bus. Ignores an inactive or deleted webhook. */
export const disableWebhook =
  (handleCommand: HandleCommand, clock: Clock) =>
  async (webhookId: string, workspaceId: string, reason: string): Promise<void> => {
    const command = { type: 'disable', reason, now: clock.now() } as const;
    try {
      await handleCommand(webhook, webhookId, command, systemContext(workspaceId));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'webhook.not_found') throw error;
    }
  };

@CommandHandler(DisableWebhook)
export class DisableWebhookHandler implements ICommandHandler<DisableWebhook> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ webhookId, workspaceId, reason }: DisableWebhook): Promise<void> {
    return disableWebhook(this.handleCommand, this.clock)(webhookId, workspaceId, reason);
  }
}
