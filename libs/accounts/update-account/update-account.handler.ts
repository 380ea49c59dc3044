import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ChangedAccount } from '../account-reply.js';
import { changedAccount } from '../changed-account.js';
import { account } from '../domain/account.js';
import { checkedGiven, putGiven, type PutSecrets } from '../given-credentials.js';
import { ACCOUNT_ENV } from '../ports.js';

export class UpdateAccount extends Command<ChangedAccount> {
  constructor(
    readonly accountId: string,
    readonly changes: {
      readonly name?: string | null;
      readonly credentials?: unknown;
      /** Null ends the refresh. */
      readonly oauth?: object | null;
    },
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** New credentials get a new reference, so that processes bound to the former ones start again. */
@CommandHandler(UpdateAccount)
export class UpdateAccountHandler implements ICommandHandler<UpdateAccount> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(ACCOUNT_ENV) private readonly allowedEnv: readonly string[],
  ) {}

  async execute({ accountId, changes, context }: UpdateAccount): Promise<ChangedAccount> {
    const { name, credentials, oauth } = changes;
    const now = this.clock.now();
    const renamed = name === undefined ? {} : { name };
    const ended = oauth === null ? { oauth } : {};
    let rekeyed: Partial<PutSecrets> = {};
    if (credentials !== undefined) {
      const given = checkedGiven(oauth === undefined ? { credentials } : { credentials, oauth }, this.allowedEnv, now);
      rekeyed = await putGiven(this.vault, context.workspaceId, given, now);
    } else if (oauth)
      throw new DomainError(
        'request.invalid_parameter',
        'parameter credentials is missing: give it with oauth, because both are replaced together',
        { field: 'credentials' },
      );
    const command = { type: 'update', changes: { ...renamed, ...ended, ...rekeyed }, now } as const;
    try {
      return changedAccount(accountId, await this.handleCommand(account, accountId, command, context));
    } catch (error) {
      // After a certain refusal no event refers to the secrets. After any other failure the event may be stored.
      if (error instanceof DomainError) await this.forget(rekeyed);
      throw error;
    }
  }

  private async forget({ credentialsRef, oauth }: Partial<PutSecrets>): Promise<void> {
    for (const ref of [credentialsRef, oauth?.ref]) if (ref !== undefined) await this.vault.delete(ref);
  }
}
