import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ExistingWebhook, webhook } from '../domain/webhook.js';
import { checkWebhookUrl } from '../domain/webhook-url.js';
import { WEBHOOK_TOPICS, type WebhookTopics } from '../ports.js';
import { webhooksProjection } from '../read-models/webhooks.projection.js';
import { newSigningKey } from '../signing-key.js';
import { type WebhookLimits } from '../limits.js';

export interface CreatedWebhook {
  readonly webhook: ExistingWebhook;
  readonly revision: number;
  /** Key in plain text, shown once. */
  readonly signingKey: string;
  readonly position?: Position;
}

export class CreateWebhook extends Command<CreatedWebhook> {
  constructor(
    readonly input: Pick<ExistingWebhook, 'url' | 'name' | 'description' | 'rules'>,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Writes key and topics before the event, so the webhook is complete for its first delivery. A failure between leaves
 * an unreferenced secret and an empty topic. They are not rolled back, because the append may have succeeded although
 * its answer was lost. A rollback would then break a live webhook.
 */
@CommandHandler(CreateWebhook)
export class CreateWebhookHandler implements ICommandHandler<CreateWebhook> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(WEBHOOK_TOPICS) private readonly topics: WebhookTopics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: WebhookLimits,
  ) {}

  async execute({ input, context }: CreateWebhook): Promise<CreatedWebhook> {
    const { name, description, rules } = input;
    const url = checkWebhookUrl(input.url);
    await checkRoom(
      this.readModels,
      webhooksProjection.schema,
      { workspaceId: context.workspaceId },
      { what: 'webhooks', owner: 'workspace', limit: this.limits.webhooksPerWorkspace, setting: 'SLUICE_MAX_WEBHOOKS' },
    );
    const now = this.clock.now();
    const id = newId('wh', now);
    const signingKeyRef = newId('sec', now);
    const signingKey = newSigningKey();
    await this.vault.put(signingKeyRef, context.workspaceId, signingKey);
    await this.topics.create(id);

    const { userId } = context.actor;
    const fields = { userId, name, description, url, rules };
    const command = { type: 'create', webhookId: id, ...fields, signingKeyRef, now } as const;
    const { state, position, revision } = await this.handleCommand(webhook, id, command, context);
    if (state.status !== 'exists') throw new Error(`webhook ${id} is ${state.status} after its creation`);
    const at = position === undefined ? {} : { position };
    return { webhook: state, revision: Number(revision), signingKey, ...at };
  }
}
