import { type AccountEvent, type OAuthGrant } from '../published.js';
import { type ConnectedAccount } from './account.js';

export interface RefreshState extends OAuthGrant {
  /** Epoch ms of the last new token; null before the first refresh. */
  readonly refreshedAt: number | null;
  /** Refresh that a process started. It has no outcome yet. */
  readonly attempt?: { readonly credentialsRef: string; readonly until: number };
  /** An earlier refresh ended without an outcome, so its new token may be lost. */
  readonly interrupted?: boolean;
  /** Failures since the last new token. */
  readonly failures: number;
  /** Last failure. `retryAt` is null when only new credentials help. */
  readonly failure?: { readonly reason: string; readonly retryAt: number | null };
}

export type RefreshCommand =
  | {
      readonly type: 'start_refresh';
      /** Reference under which the new credentials will be in the vault. */
      readonly credentialsRef: string;
      readonly now: number;
    }
  | {
      readonly type: 'finish_refresh';
      /** Reference of the credentials that the refresh began with. */
      readonly basedOn: string;
      readonly credentialsRef: string;
      readonly lifetimeMs: number;
      readonly now: number;
    }
  | {
      readonly type: 'fail_refresh';
      readonly basedOn: string;
      readonly reason: string;
      /** True when a repeat cannot help. */
      readonly permanent: boolean;
      readonly now: number;
    };

/** Longer than a request for a token and the following writes can last. */
export const ATTEMPT_MS = 60_000;
const AHEAD_MS = 300_000;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 900_000;

/** Times of a token: its refresh begins five minutes before the expiry, and not before half of its lifetime. */
export const tokenTimes = (
  now: number,
  lifetimeMs: number,
): { readonly expiresAt: number; readonly refreshAt: number } => {
  const ahead = Math.min(AHEAD_MS, Math.max(0, lifetimeMs) / 2);
  return { expiresAt: now + lifetimeMs, refreshAt: now + lifetimeMs - Math.floor(ahead) };
};

/**
 * The append of AccountRefreshStarted with the expected revision selects the one process that requests a token. An
 * outcome counts while the credentials are those that the refresh began with, because a late token is better than a
 * lost one.
 */
export const decideRefresh = (command: RefreshCommand, state: ConnectedAccount): AccountEvent[] => {
  const { oauth } = state;
  if (oauth === undefined) return [];
  switch (command.type) {
    case 'start_refresh': {
      const { now } = command;
      // A repeat has the same reference, so it finds the token of the interrupted attempt.
      const credentialsRef = oauth.attempt?.credentialsRef ?? command.credentialsRef;
      if (now < oauth.refreshAt || isBusy(oauth, now) || isPaused(oauth, now)) return [];
      const interrupted = oauth.attempt !== undefined || oauth.interrupted === true;
      const until = now + ATTEMPT_MS;
      return [{ type: 'AccountRefreshStarted', data: { credentialsRef, startedAt: now, until, interrupted } }];
    }
    case 'finish_refresh': {
      const { basedOn, credentialsRef, lifetimeMs, now } = command;
      if (basedOn !== state.credentialsRef) return [];
      const times = tokenTimes(now, lifetimeMs);
      const data = { credentialsRef, replacedRef: basedOn, ...times, refreshedAt: now };
      return [{ type: 'AccountRefreshed', data }];
    }
    case 'fail_refresh': {
      const { basedOn, permanent, now } = command;
      if (basedOn !== state.credentialsRef) return [];
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** oauth.failures);
      const lost =
        permanent && oauth.interrupted === true
          ? '; an earlier refresh was interrupted before its token was stored, so that token may be lost'
          : '';
      const reason = `${command.reason}${lost}`;
      const retryAt = permanent ? null : now + pause;
      return [{ type: 'AccountRefreshFailed', data: { reason, failedAt: now, retryAt } }];
    }
  }
};

export const newRefresh = (grant: OAuthGrant): RefreshState => ({ ...grant, refreshedAt: null, failures: 0 });

export const isBusy = ({ attempt }: RefreshState, now: number): boolean => attempt !== undefined && now < attempt.until;

/** True while no attempt is made, after a failure. */
export const isPaused = ({ failure }: RefreshState, now: number): boolean =>
  failure !== undefined && (failure.retryAt === null || now < failure.retryAt);

type RefreshEvent = Extract<
  AccountEvent,
  { readonly type: 'AccountRefreshStarted' | 'AccountRefreshed' | 'AccountRefreshFailed' }
>;

export const evolveRefresh = (state: ConnectedAccount, event: RefreshEvent): ConnectedAccount => {
  const { oauth } = state;
  if (oauth === undefined) return state;
  switch (event.type) {
    case 'AccountRefreshStarted': {
      const { credentialsRef, until, interrupted } = event.data;
      return { ...state, oauth: { ...oauth, attempt: { credentialsRef, until }, interrupted } };
    }
    case 'AccountRefreshed': {
      const { credentialsRef, expiresAt, refreshAt, refreshedAt } = event.data;
      const refreshed = { ...newRefresh({ ref: oauth.ref, expiresAt, refreshAt }), refreshedAt };
      return { ...state, credentialsRef, oauth: refreshed };
    }
    case 'AccountRefreshFailed': {
      const { reason, retryAt } = event.data;
      const { attempt: _, ...others } = oauth;
      return { ...state, oauth: { ...others, failures: oauth.failures + 1, failure: { reason, retryAt } } };
    }
  }
};
