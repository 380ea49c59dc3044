import { pause } from '#libs/async/pause.js';
import { Semaphore } from '#libs/async/semaphore.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId, newId } from '#libs/kernel/ids.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type AccountsView, type KnownAccount } from '../accounts-view.js';
import { account, type AccountCommand, type AccountState, type ConnectedAccount } from '../domain/account.js';
import { type VariablesOffered, withEnv } from '../domain/env-references.js';
import { type OAuthSettings } from '../domain/oauth-settings.js';
import { ATTEMPT_MS, isBusy, isPaused } from '../domain/refresh.js';
import { type NewToken, type PostForm, refreshGrant, TokenRefused } from './token-grant.js';

export interface AccountRefresherDependencies {
  readonly view: AccountsView;
  readonly handleCommand: HandleCommand;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly env: VariablesOffered;
  readonly post: PostForm;
  readonly logger: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
  /** Pauses in ms between attempts to store a new token. */
  readonly storePausesMs?: readonly number[];
  /** Longest wait for the refresh of another process. Default: what a caller of the API may wait. */
  readonly waitMs?: number;
}

/** An unstored token is lost, so the writes are repeated for most of the attempt's time. */
const STORE_PAUSES_MS = [100, 500, 1_000, 2_000, 5_000, 10_000, 10_000];
const LOOK_MS = 200;
const WAIT_MS = 20_000;
/**
 * Longest wait where events wait as well. The attempt of a dead process lasts a minute, and then another process may
 * begin the next one. No event may fail because of that.
 */
export const EVENTS_WAIT_MS = 2 * ATTEMPT_MS;
/** Requests to token servers at once. One workspace has half of them, so slow servers delay only its own accounts. */
const ATTEMPTS = 32;
/** Longest wait until the view of this process has the new token. */
const VIEW_MS = 5_000;

/** Gets new access tokens before the old ones expire, for the processes that bind accounts. */
export class AccountRefresher {
  private readonly going = new Map<string, Promise<void>>();
  private readonly slots = new Semaphore(ATTEMPTS, () => ATTEMPTS / 2);

  constructor(private readonly deps: AccountRefresherDependencies) {}

  /**
   * Undefined while the token is valid; a token that expires soon is refreshed in the background. Otherwise resolves
   * once there is a new token, or rejects with account.not_refreshed.
   */
  freshen(accountId: string, workspaceId: string): Promise<void> | undefined {
    const known = this.deps.view.find(accountId, workspaceId);
    if (known?.oauth === undefined) return undefined;
    const now = this.deps.clock.now();
    if (now < known.oauth.refreshAt) return undefined;
    const { expiresAt, failure } = known.oauth;
    const paused = isPaused(known.oauth, now);
    // Does not read the account's stream, because every run of a source with a dead account calls this.
    if (now >= expiresAt && paused && failure) return Promise.reject(notRefreshed(accountId, failure));
    if (now >= expiresAt) return this.refresh(accountId, known);
    if (!paused && !isBusy(known.oauth, now))
      this.refresh(accountId, known).catch((error: unknown) => {
        if (!(error instanceof DomainError))
          this.deps.logger.error({ account: accountId, err: error }, 'account.refresh_broken');
      });
    return undefined;
  }

  /** One at a time for each account in this process. The account's stream excludes other processes. */
  private refresh(accountId: string, known: KnownAccount): Promise<void> {
    const going = this.going.get(accountId);
    if (going) return going;
    const started = this.untilFresh(accountId, known).finally(() => this.going.delete(accountId));
    this.going.set(accountId, started);
    return started;
  }

  private async untilFresh(accountId: string, known: KnownAccount): Promise<void> {
    const { clock, waitMs = WAIT_MS } = this.deps;
    const giveUpAt = clock.now() + waitMs;
    for (;;) {
      // An account has one attempt at a time, so the workspace's limit of accounts bounds the waiting attempts.
      const state = await this.slots.run(known.workspaceId, () => this.attempt(accountId, known));
      if (state?.oauth === undefined) return;
      const { oauth, credentialsRef } = state;
      const now = clock.now();
      if (now < oauth.expiresAt) return this.untilSeen(accountId, known.workspaceId, credentialsRef);
      if (oauth.failure && isPaused(oauth, now)) throw notRefreshed(accountId, oauth.failure);
      if (now >= giveUpAt)
        throw notRefreshed(accountId, { reason: 'another process still waits for the token server', retryAt: now });
      if (isBusy(oauth, now)) await pause(LOOK_MS);
    }
  }

  /** Requests a token unless none is due or another process does it. Undefined for a deleted account. */
  private async attempt(accountId: string, known: KnownAccount): Promise<ConnectedAccount | undefined> {
    const { clock } = this.deps;
    const now = clock.now();
    const own = await this.command(accountId, known, { type: 'start_refresh', credentialsRef: newId('sec', now), now });
    if (own.state === undefined || !own.decided) return own.state;
    const { state } = own;
    try {
      const token = await this.tokenFor(state, known.workspaceId);
      return await this.stored(accountId, known, state, token);
    } catch (error) {
      if (error instanceof NotStored) throw error.cause;
      return this.failed(accountId, known, state, error);
    }
  }

  private async stored(
    accountId: string,
    known: KnownAccount,
    state: ConnectedAccount,
    token: { readonly credentials: string; readonly lifetimeMs: number },
  ): Promise<ConnectedAccount | undefined> {
    const { vault, clock, storePausesMs = STORE_PAUSES_MS } = this.deps;
    const { attempt } = state.oauth ?? {};
    const owns = attempt !== undefined && clock.now() < attempt.until;
    // After this time another process may use the reference, so its token must not be replaced.
    const credentialsRef = owns ? attempt.credentialsRef : newId('sec', clock.now());
    for (let tries = 0; ; tries++) {
      try {
        await vault.put(credentialsRef, known.workspaceId, token.credentials);
        const { lifetimeMs } = token;
        const finish = { type: 'finish_refresh', basedOn: state.credentialsRef, credentialsRef, lifetimeMs } as const;
        const { state: after } = await this.command(accountId, known, { ...finish, now: clock.now() });
        // The account was changed in the meantime, so nothing refers to the token.
        if (after?.credentialsRef !== credentialsRef) await vault.delete(credentialsRef);
        return after;
      } catch (error) {
        const wait = storePausesMs[tries];
        this.deps.logger.error(
          { account: accountId, err: error, retry: wait !== undefined },
          'account.token_not_stored',
        );
        if (wait === undefined) throw new NotStored(error);
        await pause(wait);
      }
    }
  }

  /** The new credentials as JSON text, from the vault if an interrupted attempt stored them. */
  private async tokenFor(
    { credentialsRef, oauth }: ConnectedAccount,
    workspaceId: string,
  ): Promise<{ readonly credentials: string; readonly lifetimeMs: number }> {
    const { vault, env, post } = this.deps;
    if (oauth?.interrupted === true && oauth.attempt !== undefined) {
      const left = await vault.get(oauth.attempt.credentialsRef, workspaceId);
      // The token's lifetime is unknown, so the next round refreshes it.
      if (left !== undefined) return { credentials: left, lifetimeMs: 0 };
    }
    const [former, given] = await Promise.all([
      vault.get(credentialsRef, workspaceId),
      vault.get(oauth?.ref ?? '', workspaceId),
    ]);
    if (former === undefined || given === undefined) throw new Error('credentials of the account are missing');
    const credentials = JSON.parse(former) as Readonly<Record<string, unknown>>;
    const settings = withEnv(JSON.parse(given), env.allowed, env.values) as OAuthSettings;
    if (settings.client_id === undefined)
      throw new TokenRefused('the variable in client_id is not set on the server, or is not offered any more', false);
    const token = await refreshGrant(post, settings, String(credentials['oauth_refresh_token']));
    return { credentials: JSON.stringify(withToken(credentials, token)), lifetimeMs: token.lifetimeMs };
  }

  private async failed(
    accountId: string,
    known: KnownAccount,
    { credentialsRef: basedOn }: ConnectedAccount,
    error: unknown,
  ): Promise<ConnectedAccount | undefined> {
    const { clock, logger } = this.deps;
    const refused = error instanceof TokenRefused;
    if (!refused) logger.error({ account: accountId, err: error }, 'account.refresh_broken');
    const reason = refused ? error.message.slice(0, MAX_REASON) : 'the server itself failed, and its log says why';
    const permanent = refused && error.permanent;
    logger.warn({ account: accountId, workspace: known.workspaceId, reason, permanent }, 'account.not_refreshed');
    const fail = { type: 'fail_refresh', basedOn, reason, permanent, now: clock.now() } as const;
    return (await this.command(accountId, known, fail)).state;
  }

  private async command(
    accountId: string,
    known: KnownAccount,
    command: AccountCommand,
  ): Promise<{ readonly state: ConnectedAccount | undefined; readonly decided: boolean }> {
    try {
      const { state, events } = await this.deps.handleCommand(account, accountId, command, contextFor(known));
      return { state: connected(state), decided: events.length > 0 };
    } catch (error) {
      if (error instanceof DomainError && error.code === 'account.not_found')
        return { state: undefined, decided: false };
      throw error;
    }
  }

  /** Waits until this process binds the new token, so that a source is not started with the old one. */
  private async untilSeen(accountId: string, workspaceId: string, credentialsRef: string): Promise<void> {
    for (let waited = 0; waited < VIEW_MS; waited += 10) {
      const known = this.deps.view.find(accountId, workspaceId);
      if (known === undefined || known.credentialsRef === credentialsRef) return;
      // A later change also ends the wait.
      if (known.oauth === undefined || this.deps.clock.now() < known.oauth.refreshAt) return;
      await pause(10);
    }
  }
}

const MAX_REASON = 300;

/** The token server issued a token that could not be stored. The account must not report a refusal by the server. */
class NotStored extends Error {
  constructor(cause: unknown) {
    super('the new token could not be stored', { cause });
  }
}

const connected = (state: AccountState): ConnectedAccount | undefined =>
  state.status === 'connected' ? state : undefined;

const withToken = (
  credentials: Readonly<Record<string, unknown>>,
  { accessToken, refreshToken }: NewToken,
): object => ({
  ...credentials,
  oauth_access_token: accessToken,
  ...(refreshToken === undefined ? {} : { oauth_refresh_token: refreshToken }),
});

/** The system acts for the user who connected the account. */
const contextFor = ({ userId, workspaceId }: KnownAccount): CommandContext => {
  const commandId = newCommandId();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: { userId, apiKeyId: null },
    workspaceId,
  };
};

const notRefreshed = (
  accountId: string,
  { reason, retryAt }: { readonly reason: string; readonly retryAt: number | null },
): DomainError => {
  const todo =
    retryAt === null
      ? `connect it again: PUT /v1/accounts/${accountId} with new credentials and oauth`
      : 'it is tried again; if this stays, check oauth of the account';
  const text = `the token of account ${accountId} has expired and could not be refreshed, because ${reason}: ${todo}`;
  return new DomainError('account.not_refreshed', text, { id: accountId });
};
