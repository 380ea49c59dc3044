import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type AccountEvent } from '../published.js';

export type AccountCommand =
  | {
      readonly type: 'connect';
      readonly accountId: string;
      readonly userId: string;
      readonly name: string | null;
      readonly app: string;
      readonly credentialsRef: string;
      readonly now: number;
    }
  | {
      readonly type: 'update';
      /** Changed fields. An absent one stays as it is. */
      readonly changes: { readonly name?: string | null; readonly credentialsRef?: string };
      readonly now: number;
    }
  | { readonly type: 'show_credentials'; readonly userId: string; readonly now: number }
  | { readonly type: 'disconnect'; readonly now: number };

export interface ConnectedAccount {
  readonly status: 'connected';
  readonly id: string;
  readonly userId: string;
  readonly name: string | null;
  readonly app: string;
  readonly credentialsRef: string;
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
      const { accountId, userId, name, app, credentialsRef, now } = command;
      checkApp(app);
      return [{ type: 'AccountConnected', data: { accountId, userId, name, app, credentialsRef, connectedAt: now } }];
    }
    if (state.status !== 'connected') throw new DomainError('account.not_found', 'there is no such account');
    switch (command.type) {
      case 'update': {
        const { changes, now } = command;
        const name = changes.name === undefined ? state.name : changes.name;
        const credentialsRef = changes.credentialsRef ?? state.credentialsRef;
        if (name === state.name && credentialsRef === state.credentialsRef) return [];
        return [{ type: 'AccountUpdated', data: { name, credentialsRef, updatedAt: now } }];
      }
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
      const { accountId, userId, name, app, credentialsRef } = event.data;
      return { status: 'connected', id: accountId, userId, name, app, credentialsRef };
    }
    if (state.status !== 'connected') return state;
    switch (event.type) {
      case 'AccountUpdated':
        return { ...state, name: event.data.name, credentialsRef: event.data.credentialsRef };
      case 'AccountCredentialsShown':
        return state;
      case 'AccountDisconnected':
        return { status: 'disconnected' };
    }
  },
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
