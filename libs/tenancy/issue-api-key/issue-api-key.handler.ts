import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS, type ResourceLimits } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { apiKey, hashOfKey } from '../domain/api-key.js';
import { apiKeysProjection } from '../read-models/api-keys.projection.js';
import { newApiKey } from '../set-up-user/set-up-user.js';

export interface IssuedApiKey {
  readonly id: string;
  readonly name: string;
  readonly issuedAt: number;
  /** The key itself, shown only once. */
  readonly key: string;
  readonly position?: Position;
}

/** Issues another key for the caller. */
export class IssueApiKey extends Command<IssuedApiKey> {
  constructor(
    readonly name: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

@CommandHandler(IssueApiKey)
export class IssueApiKeyHandler implements ICommandHandler<IssueApiKey> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: ResourceLimits,
  ) {}

  async execute({ name, context }: IssueApiKey): Promise<IssuedApiKey> {
    await checkRoom(
      this.readModels,
      apiKeysProjection.schema,
      { userId: context.actor.userId },
      { what: 'API keys', owner: 'user', limit: this.limits.apiKeysPerUser, setting: 'SLUICE_MAX_API_KEYS' },
    );
    const now = this.clock.now();
    const id = newId('key', now);
    const key = newApiKey();
    const { userId } = context.actor;
    const issue = { type: 'issue', keyId: id, userId, name, keyHash: hashOfKey(key), handedOver: true, now } as const;
    const { position } = await this.handleCommand(apiKey, id, issue, context);
    return { id, name, issuedAt: now, key, ...(position === undefined ? {} : { position }) };
  }
}
