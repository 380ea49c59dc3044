import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ExistingWebhook, webhook } from '../domain/webhook.js';
import { checkWebhookUrl } from '../domain/webhook-url.js';
import { WEBHOOK_TOPICS, type WebhookTopics } from '../ports.js';
import { newSigningKey } from '../signing-key.js';

export interface CreatedWebhook {
  readonly webhook: Omit<ExistingWebhook, 'status' | 'signingKeyRef'>;
  /** In clear: shown once. */
  readonly signingKey: string;
  readonly position?: Position;
}

export class CreateWebhook extends Command<CreatedWebhook> {
  constructor(
    readonly input: { readonly url: string; readonly name: string | null; readonly description: string | null },
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Key and topics come before the event, so that the webhook is whole from its first delivery on. A failure between
 * leaves a secret and an empty topic that nothing refers to. They are not taken back: when the append was written and
 * only its answer was lost, that would break a live webhook.
 */
@CommandHandler(CreateWebhook)
export class CreateWebhookHandler implements ICommandHandler<CreateWebhook> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(WEBHOOK_TOPICS) private readonly topics: WebhookTopics,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ input, context }: CreateWebhook): Promise<CreatedWebhook> {
    const { name, description } = input;
    const url = checkWebhookUrl(input.url);
    const now = this.clock.now();
    const id = newId('wh', now);
    const signingKeyRef = newId('sec', now);
    const signingKey = newSigningKey();
    await this.vault.put(signingKeyRef, context.workspaceId, signingKey);
    await this.topics.create(id);

    const { userId } = context.actor;
    const fields = { userId, name, description, url };
    const command = { kind: 'create', webhookId: id, ...fields, signingKeyRef, now } as const;
    const { position } = await this.handleCommand(webhook, id, command, context);
    const created = { id, ...fields, active: true, createdAt: now, updatedAt: now };
    return { webhook: created, signingKey, ...(position === undefined ? {} : { position }) };
  }
}
