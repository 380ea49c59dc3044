import { readAll } from '#libs/kernel/read-all.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { type AccountDoc, accountsProjection } from './read-models/accounts.projection.js';

/** An account whose token cannot be refreshed, so that only new credentials help. */
export interface DeadAccount {
  readonly id: string;
  readonly name: string | null;
  readonly app: string;
  readonly reason: string;
  /** End of its last token, in epoch milliseconds. */
  readonly expiredAt: number;
}

/** Reads the accounts of a workspace that must be connected again. */
export const deadAccounts = (readModels: ReadModelStore) => ({
  of: async (workspaceId: string): Promise<readonly DeadAccount[]> => {
    const docs = await readAll<AccountDoc>(readModels, accountsProjection.schema, { workspaceId });
    return docs.flatMap(({ id, name, app, oauth }): readonly DeadAccount[] => {
      if (!oauth || oauth.error === null || oauth.retryAt !== null) return [];
      return [{ id, name, app, reason: oauth.error, expiredAt: oauth.expiresAt }];
    });
  },
});
