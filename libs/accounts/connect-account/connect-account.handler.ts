import { Inject } from '@nestjs/common';
import { Command, CommandHandler, ICommandHandler } from '@nestjs/cqrs';
import { type Clock } from '#libs/kernel/clock.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { checkRoom, RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ChangedAccount } from '../account-reply.js';
import { changedAccount } from '../changed-account.js';
import { account, checkApp } from '../domain/account.js';
import { checkedGiven, type Given, putGiven } from '../given-credentials.js';
import { ACCOUNT_ENV } from '../ports.js';
import { accountsProjection } from '../read-models/accounts.projection.js';
import { type AccountLimits } from '../limits.js';

export class ConnectAccount extends Command<ChangedAccount> {
  constructor(
    readonly input: Given & { readonly name: string | null; readonly app: string },
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Writes the credentials before the event. A failure between leaves a secret that nothing refers to. */
@CommandHandler(ConnectAccount)
export class ConnectAccountHandler implements ICommandHandler<ConnectAccount> {
  constructor(
    @Inject(HANDLE_COMMAND) private readonly handleCommand: HandleCommand,
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(RESOURCE_LIMITS) private readonly limits: AccountLimits,
    @Inject(ACCOUNT_ENV) private readonly allowedEnv: readonly string[],
  ) {}

  async execute({ input, context }: ConnectAccount): Promise<ChangedAccount> {
    const { name, app } = input;
    const { workspaceId } = context;
    checkApp(app);
    const now = this.clock.now();
    const given = checkedGiven(input, this.allowedEnv, now);
    await checkRoom(
      this.readModels,
      accountsProjection.schema,
      { workspaceId },
      { what: 'accounts', owner: 'workspace', limit: this.limits.accountsPerWorkspace },
    );
    const accountId = newId('apn', now);
    const secrets = await putGiven(this.vault, workspaceId, given, now);
    const { userId } = context.actor;
    const command = { type: 'connect', accountId, userId, name, app, ...secrets, now } as const;
    return changedAccount(accountId, await this.handleCommand(account, accountId, command, context));
  }
}
