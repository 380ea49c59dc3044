import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandResult } from '#libs/kernel/handle-command.js';
import { type ChangedAccount } from './account-reply.js';
import { type AccountState } from './domain/account.js';

/** The account as a command left it. Throws account.not_found for one that the command did not leave connected. */
export const changedAccount = (
  accountId: string,
  { state, revision, position }: CommandResult<AccountState>,
): ChangedAccount => {
  if (state.status !== 'connected')
    throw new DomainError('account.not_found', `there is no account ${accountId} in your workspaces`, {
      id: accountId,
    });
  const changed = { account: state, revision: Number(revision) };
  return position === undefined ? changed : { ...changed, position };
};
