import { idOf, type RecordedEvent, streamName } from '#libs/kernel/events.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type VariablesOffered, withEnv } from './domain/env-references.js';
import { account } from './domain/account.js';
import { type RefreshState } from './domain/refresh.js';
import { type AccountEvent } from './published.js';
import { type AccountRefresher } from './refresh/account-refresher.js';

export interface KnownAccount {
  readonly workspaceId: string;
  readonly userId: string;
  readonly app: string;
  /** Changes with the credentials. */
  readonly credentialsRef: string;
  /** Absent for credentials that are never refreshed. */
  readonly oauth?: RefreshState;
}

const STREAMS = streamName(account.category, '');

/** Fields of an account that no caller of the view reads. */
const UNUSED = { name: null, createdAt: 0, updatedAt: 0 } as const;

/** Keeps every account in memory, without its credentials, to check and bind app props. */
export class AccountsView implements LiveView {
  private readonly entries = new Map<string, KnownAccount>();
  /** Ids by workspace and app, from old to new. */
  private readonly ofApps = new Map<string, Set<string>>();

  find(accountId: string, workspaceId: string): KnownAccount | undefined {
    const entry = this.entries.get(accountId);
    return entry?.workspaceId === workspaceId ? entry : undefined;
  }

  /** Ids of the accounts of an app, from old to new. */
  ofApp(app: string, workspaceId: string): readonly string[] {
    return [...(this.ofApps.get(appKey(app, workspaceId)) ?? [])];
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & AccountEvent;
    if (!event.stream.startsWith(STREAMS)) return;
    const id = idOf(event.stream);
    const known = this.entries.get(id);
    const state = account.evolve(
      known ? { status: 'connected', id, ...UNUSED, ...known } : account.initialState(),
      event,
    );
    if (state.status !== 'connected') {
      this.entries.delete(id);
      if (known) this.leave(id, known);
      return;
    }
    const { userId, app, credentialsRef, oauth } = state;
    const fields = { workspaceId: event.metadata.workspaceId, userId, app, credentialsRef };
    this.entries.set(id, oauth === undefined ? fields : { ...fields, oauth });
    if (!known) this.join(id, fields);
  }

  private join(id: string, { app, workspaceId }: KnownAccount): void {
    const key = appKey(app, workspaceId);
    this.ofApps.set(key, (this.ofApps.get(key) ?? new Set()).add(id));
  }

  private leave(id: string, { app, workspaceId }: KnownAccount): void {
    const key = appKey(app, workspaceId);
    const ids = this.ofApps.get(key);
    ids?.delete(id);
    if (ids?.size === 0) this.ofApps.delete(key);
  }
}

const appKey = (app: string, workspaceId: string): string => `${workspaceId}/${app}`;

/** Reads `$auth` of an account for the process that binds props. */
export const accountAuths = (
  view: AccountsView,
  vault: Vault,
  env: VariablesOffered,
  refresher: Pick<AccountRefresher, 'freshen'>,
) => ({
  /** A text that changes with the credentials; undefined for an account that does not exist in this workspace. */
  versionOf: (accountId: string, workspaceId: string): string | undefined =>
    view.find(accountId, workspaceId)?.credentialsRef,
  /**
   * Undefined while the token is valid; a token that expires soon is refreshed in the background. Otherwise resolves
   * once there is a new token, or rejects with account.not_refreshed.
   */
  freshen: (accountId: string, workspaceId: string): Promise<void> | undefined =>
    refresher.freshen(accountId, workspaceId),
  /** Empty for an account that does not exist. Rejects when its credentials are missing from the vault. */
  async authOf(accountId: string, workspaceId: string): Promise<Readonly<Record<string, unknown>>> {
    await refresher.freshen(accountId, workspaceId);
    const known = view.find(accountId, workspaceId);
    if (!known) return {};
    const text = await vault.get(known.credentialsRef, workspaceId);
    if (text === undefined) throw new Error(`the credentials of account ${accountId} are missing from the vault`);
    return withEnv(JSON.parse(text), env.allowed, env.values) as Readonly<Record<string, unknown>>;
  },
});
