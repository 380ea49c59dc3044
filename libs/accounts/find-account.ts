import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type AccountDoc, accountsProjection } from './read-models/accounts.projection.js';

/** Finds an account of these workspaces. Throws account.not_found, also for an account of another workspace. */
export const findAccount = async (
  readModels: ReadModelStore,
  workspaceIds: readonly string[],
  accountId: string,
): Promise<AccountDoc> => {
  const isId = isIdOf('apn', accountId);
  const doc = isId ? await readModels.get<AccountDoc>(accountsProjection.schema, accountId) : undefined;
  if (doc && workspaceIds.includes(doc.workspaceId)) return doc;
  throw new DomainError(
    'account.not_found',
    `there is no account ${shownId(accountId)} in your workspaces${otherKindHint(accountId, 'apn')}`,
    { id: shownId(accountId) },
  );
};
