import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { apiKey, hashOfKey, type KeyLimits } from '../domain/api-key.js';
import { apiKeysProjection } from '../read-models/api-keys.projection.js';
import { newApiKey } from '../set-up-user/set-up-user.js';
import { type TenancyLimits } from '../limits.js';

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
    readonly limits: KeyLimits,
    /** Epoch milliseconds at which the key of this request ends, if it does. */
    readonly endOfOwn: number | undefined,
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
    @Inject(RESOURCE_LIMITS) private readonly limits: TenancyLimits,
  ) {}

  async execute({ name, limits, endOfOwn, context }: IssueApiKey): Promise<IssuedApiKey> {
    checkEnd(limits.expiresAt, endOfOwn, this.clock.now());
    await checkRoom(
      this.readModels,
      apiKeysProjection.schema,
      { userId: context.actor.userId },
      { what: 'API keys', owner: 'user', limit: this.limits.apiKeysPerUser },
    );
    const now = this.clock.now();
    const id = newId('key', now);
    const key = newApiKey();
    const { userId } = context.actor;
    const keyHash = hashOfKey(key);
    const issue = { type: 'issue', keyId: id, userId, name, keyHash, limits, handedOver: true, now } as const;
    const { position } = await this.handleCommand(apiKey, id, issue, context);
    return { id, name, issuedAt: now, key, ...(position === undefined ? {} : { position }) };
  }
}

/** A key that ends must not make one that outlasts it. */
const checkEnd = (expiresAt: number | undefined, endOfOwn: number | undefined, now: number): void => {
  const seconds = (ms: number): number => Math.floor(ms / 1_000);
  const tooLate = endOfOwn !== undefined && (expiresAt ?? Infinity) > endOfOwn;
  if (!tooLate && (expiresAt === undefined || expiresAt > now)) return;
  const bounds = `after ${seconds(now)}${endOfOwn === undefined ? '' : ` and at most ${seconds(endOfOwn)}, when this key ends`}`;
  const actual = expiresAt === undefined ? 'none' : seconds(expiresAt);
  throw new DomainError(
    'request.invalid_parameter',
    `parameter expires_at must be epoch seconds ${bounds}; got ${actual}`,
    { field: 'expires_at', actual },
  );
};
