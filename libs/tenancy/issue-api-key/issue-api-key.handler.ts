import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { apiKey, hashOfKey } from '../domain/api-key.js';
import { newApiKey } from '../set-up-user/set-up-user.js';

export interface IssuedApiKey {
  readonly id: string;
  readonly name: string;
  readonly issuedAt: number;
  /** The key itself, shown here and nowhere again. */
  readonly key: string;
  readonly position?: Position;
}

/** A further key of the user who asks. */
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
  ) {}

  async execute({ name, context }: IssueApiKey): Promise<IssuedApiKey> {
    const now = this.clock.now();
    const id = newId('key', now);
    const key = newApiKey();
    const { userId } = context.actor;
    const issue = { kind: 'issue', keyId: id, userId, name, keyHash: hashOfKey(key), handedOver: true, now } as const;
    const { position } = await this.handleCommand(apiKey, id, issue, context);
    return { id, name, issuedAt: now, key, ...(position === undefined ? {} : { position }) };
  }
}
