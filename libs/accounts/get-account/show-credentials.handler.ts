import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { account } from '../domain/account.js';
import { type ChangedAccount } from '../account-reply.js';
import { changedAccount } from '../changed-account.js';
import { type Credentials } from '../domain/credentials.js';

export interface ShownAccount extends ChangedAccount {
  readonly credentials: Credentials;
}

export class ShowCredentials extends Command<ShownAccount> {
  constructor(
    readonly accountId: string,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/**
 * Records the reader before the read, so that every disclosure of credentials is in the history. Throws
 * account.not_owner.
 */
@CommandHandler(ShowCredentials)
export class ShowCredentialsHandler implements ICommandHandler<ShowCredentials> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ accountId, context }: ShowCredentials): Promise<ShownAccount> {
    const command = { type: 'show_credentials', userId: context.actor.userId, now: this.clock.now() } as const;
    const shown = changedAccount(accountId, await this.handleCommand(account, accountId, command, context));
    const text = await this.vault.get(shown.account.credentialsRef, context.workspaceId);
    if (text === undefined) throw new Error(`the credentials of account ${accountId} are missing from the vault`);
    return { ...shown, credentials: JSON.parse(text) as Credentials };
  }
}
