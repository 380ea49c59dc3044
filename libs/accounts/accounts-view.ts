import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type Vault } from '#libs/kernel/vault.js';
import { withEnv } from './domain/env-references.js';
import { type AccountEvent } from './published.js';

export interface KnownAccount {
  readonly workspaceId: string;
  readonly app: string;
  /** Changes with the credentials. */
  readonly credentialsRef: string;
}

/** Keeps every account in memory, without its credentials, for those that check and bind app props. */
export class AccountsView implements LiveView {
  private readonly entries = new Map<string, KnownAccount>();

  find(accountId: string, workspaceId: string): KnownAccount | undefined {
    const entry = this.entries.get(accountId);
    return entry?.workspaceId === workspaceId ? entry : undefined;
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & AccountEvent;
    const id = idOf(event.stream);
    switch (event.type) {
      case 'AccountConnected': {
        const { app, credentialsRef } = event.data;
        this.entries.set(id, { workspaceId: event.metadata.workspaceId, app, credentialsRef });
        return;
      }
      case 'AccountUpdated': {
        const entry = this.entries.get(id);
        if (entry) this.entries.set(id, { ...entry, credentialsRef: event.data.credentialsRef });
        return;
      }
      case 'AccountDisconnected':
        this.entries.delete(id);
        return;
      default:
        return;
    }
  }
}

/** Reads `$auth` of an account for the process that binds props. */
export const accountAuths = (
  view: AccountsView,
  vault: Vault,
  env: { readonly allowed: readonly string[]; readonly values: Readonly<Record<string, string | undefined>> },
) => ({
  /** A text that changes with the credentials; undefined for an account that does not exist in this workspace. */
  versionOf: (accountId: string, workspaceId: string): string | undefined =>
    view.find(accountId, workspaceId)?.credentialsRef,
  /** Empty for an account that does not exist. Rejects when its credentials are missing from the vault. */
  async authOf(accountId: string, workspaceId: string): Promise<Readonly<Record<string, unknown>>> {
    const known = view.find(accountId, workspaceId);
    if (!known) return {};
    const text = await vault.get(known.credentialsRef, workspaceId);
    if (text === undefined) throw new Error(`the credentials of account ${accountId} are missing from the vault`);
    return withEnv(JSON.parse(text), env.allowed, env.values) as Readonly<Record<string, unknown>>;
  },
});
