import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ExistingWebhook, FORMER_KEY_VALID_MS, webhook } from '../domain/webhook.js';
import { newSigningKey } from '../signing-key.js';

export interface RegeneratedKey {
  readonly webhook: ExistingWebhook;
  readonly revision: number;
  readonly signingKey: string;
  /** Epoch ms. */
  readonly formerValidUntil: number;
  readonly position?: Position;
}

export class RegenerateSigningKey extends Command<RegeneratedKey> {
  constructor(
    readonly webhookId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@CommandHandler(RegenerateSigningKey)
export class RegenerateSigningKeyHandler implements ICommandHandler<RegenerateSigningKey> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ webhookId, context }: RegenerateSigningKey): Promise<RegeneratedKey> {
    const now = this.clock.now();
    const signingKeyRef = newId('sec', now);
    const signingKey = newSigningKey();
    await this.vault.put(signingKeyRef, context.workspaceId, signingKey);
    const command = { type: 'regenerate_signing_key', signingKeyRef, now } as const;
    const { state, position, revision } = await this.handleCommand(webhook, webhookId, command, context);
    if (state.status !== 'exists')
      throw new DomainError('webhook.not_found', `there is no webhook ${webhookId} in your workspaces`);
    const formerValidUntil = now + FORMER_KEY_VALID_MS;
    const reply = { webhook: state, revision: Number(revision), signingKey, formerValidUntil };
    return position === undefined ? reply : { ...reply, position };
  }
}
