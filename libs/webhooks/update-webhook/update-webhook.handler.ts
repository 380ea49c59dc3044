import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { type ExistingWebhook, webhook, type WebhookCommand } from '../domain/webhook.js';

export type WebhookChanges = Extract<WebhookCommand, { type: 'update' }>['changes'];

export interface UpdatedWebhook {
  readonly webhook: ExistingWebhook;
  readonly revision: number;
  readonly position?: Position;
}

export class UpdateWebhook extends Command<UpdatedWebhook> {
  constructor(
    readonly webhookId: string,
    readonly changes: WebhookChanges,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@CommandHandler(UpdateWebhook)
export class UpdateWebhookHandler implements ICommandHandler<UpdateWebhook> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ webhookId, changes, context }: UpdateWebhook): Promise<UpdatedWebhook> {
    const command = { type: 'update', changes, now: this.clock.now() } as const;
    const { state, position, revision } = await this.handleCommand(webhook, webhookId, command, context);
    if (state.status !== 'exists')
      throw new DomainError('webhook.not_found', `there is no webhook ${webhookId} in your workspaces`);
    return { webhook: state, revision: Number(revision), ...(position === undefined ? {} : { position }) };
  }
}
