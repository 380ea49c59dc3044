import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type AccountEvent, type OAuthGrant } from '../published.js';
import { decideRefresh, evolveRefresh, newRefresh, type RefreshCommand, type RefreshState } from './refresh.js';

export type AccountCommand =
  | {
      readonly type: 'connect';
      readonly accountId: string;
      readonly userId: string;
      readonly name: string | null;
      readonly app: string;
      readonly credentialsRef: string;
      readonly oauth?: OAuthGrant;
      readonly now: number;
    }
  | {
      readonly type: 'update';
      /** Changed fields. An absent one stays as it is; null ends the refresh. */
      readonly changes: {
        readonly name?: string | null;
        readonly credentialsRef?: string;
        readonly oauth?: OAuthGrant | null;
      };
      readonly now: number;
    }
  | RefreshCommand
  | { readonly type: 'show_credentials'; readonly userId: string; readonly now: number }
  | { readonly type: 'disconnect'; readonly now: number };

export interface ConnectedAccount {
  readonly status: 'connected';
  readonly id: string;
  readonly userId: string;
  readonly name: string | null;
  readonly app: string;
  readonly credentialsRef: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Absent for credentials that are never refreshed. */
  readonly oauth?: RefreshState;
}

export type AccountState = ConnectedAccount | { readonly status: 'none' } | { readonly status: 'disconnected' };

const SLUG = /^[a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?$/i;

export const account: Decider<AccountCommand, AccountEvent, AccountState> = {
  category: 'account',
  initialState: () => ({ status: 'none' }),

  decide(command, state): AccountEvent[] {
    if (command.type === 'connect') {
      // Ids are never reused, so an existing account means that this command was already handled.
      if (state.status !== 'none') return [];
      const { accountId, userId, name, app, credentialsRef, oauth, now } = command;
      checkApp(app);
      const fields = { accountId, userId, name, app, credentialsRef, connectedAt: now };
      return [{ type: 'AccountConnected', data: oauth === undefined ? fields : { ...fields, oauth } }];
    }
    if (state.status !== 'connected') throw new DomainError('account.not_found', 'there is no such account');
    switch (command.type) {
      case 'update':
        return update(command, state);
      case 'start_refresh':
      case 'finish_refresh':
      case 'fail_refresh':
        return decideRefresh(command, state);
      case 'show_credentials':
        if (command.userId !== state.userId)
          throw new DomainError(
            'account.not_owner',
            `only the user who connected account ${state.id} may read its credentials: ask for include_credentials with a key of that user`,
            { id: state.id },
          );
        return [{ type: 'AccountCredentialsShown', data: { shownAt: command.now } }];
      case 'disconnect':
        return [{ type: 'AccountDisconnected', data: { disconnectedAt: command.now } }];
    }
  },

  evolve(state, event): AccountState {
    if (event.type === 'AccountConnected') {
      const { accountId, userId, name, app, credentialsRef, oauth, connectedAt } = event.data;
      const times = { createdAt: connectedAt, updatedAt: connectedAt };
      const fields = { status: 'connected', id: accountId, userId, name, app, credentialsRef, ...times } as const;
      return oauth === undefined ? fields : { ...fields, oauth: newRefresh(oauth) };
    }
    if (state.status !== 'connected') return state;
    switch (event.type) {
      case 'AccountUpdated': {
        const { name, credentialsRef, oauth, updatedAt } = event.data;
        const updated = { ...state, name, credentialsRef, updatedAt };
        if (oauth === undefined) return updated;
        const { oauth: _, ...others } = updated;
        return oauth === null ? others : { ...others, oauth: newRefresh(oauth) };
      }
      case 'AccountRefreshStarted':
      case 'AccountRefreshed':
      case 'AccountRefreshFailed':
        return evolveRefresh(state, event);
      case 'AccountCredentialsShown':
        return state;
      case 'AccountDisconnected':
        return { status: 'disconnected' };
    }
  },
};

const update = (
  { changes, now }: Extract<AccountCommand, { type: 'update' }>,
  state: ConnectedAccount,
): AccountEvent[] => {
  const name = changes.name === undefined ? state.name : changes.name;
  const credentialsRef = changes.credentialsRef ?? state.credentialsRef;
  const { oauth } = changes;
  if (state.oauth !== undefined && changes.credentialsRef !== undefined && oauth === undefined)
    throw new DomainError(
      'request.invalid_parameter',
      `parameter credentials alone would be overwritten by the next refresh of account ${state.id}: give oauth too, or "oauth": null to end the refresh`,
      { field: 'credentials' },
    );
  const ends = oauth === null && state.oauth !== undefined;
  if (name === state.name && credentialsRef === state.credentialsRef && !ends) return [];
  const fields = { name, credentialsRef, updatedAt: now };
  return [{ type: 'AccountUpdated', data: oauth === undefined ? fields : { ...fields, oauth } }];
};

/** Throws request.invalid_parameter for a text that is no slug of an app. */
export const checkApp = (app: string): void => {
  if (SLUG.test(app)) return;
  throw new DomainError(
    'request.invalid_parameter',
    `parameter app must be the slug of an app, such as slack: up to 100 letters, digits, - and _; got ${JSON.stringify(app.slice(0, 100))}`,
    { field: 'app', limit: 100, actual: app.length },
  );
};
