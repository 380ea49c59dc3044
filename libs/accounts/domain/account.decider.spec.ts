import { describe, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type AccountEvent } from '../published.js';
import { account } from './account.js';

const fields = { accountId: 'apn_1', userId: 'u_1', name: 'Team', app: 'slack', credentialsRef: 'sec_1' };
const connect = { type: 'connect', ...fields, now: 1_000 } as const;
const connected: AccountEvent = { type: 'AccountConnected', data: { ...fields, connectedAt: 1_000 } };
const disconnected: AccountEvent = { type: 'AccountDisconnected', data: { disconnectedAt: 3_000 } };
const show = { type: 'show_credentials', userId: 'u_1', now: 2_000 } as const;

describe('an account', () => {
  it('is connected', () => given(account).when(connect).then(connected));

  it('connected again is a no-op', () => given(account, [connected]).when(connect).thenNothingHappened());

  it('needs the slug of an app', () => {
    given(account)
      .when({ ...connect, app: 'not a slug' })
      .thenThrows('request.invalid_parameter', /slug of an app/);
  });

  // docs/reference/rest-api.md#account-update
  it('keeps what an update does not change', () =>
    given(account, [connected])
      .when({ type: 'update', changes: { credentialsRef: 'sec_2' }, now: 2_000 })
      .then({ type: 'AccountUpdated', data: { name: 'Team', credentialsRef: 'sec_2', updatedAt: 2_000 } }));

  it('shows its credentials to the user who connected it', () =>
    given(account, [connected])
      .when(show)
      .then({ type: 'AccountCredentialsShown', data: { shownAt: 2_000 } }));

  it('shows them to nobody else', () => {
    given(account, [connected])
      .when({ ...show, userId: 'u_2' })
      .thenThrows('account.not_owner', /only the user who connected/);
  });

  it('is gone once disconnected', () => {
    given(account, [connected]).when({ type: 'disconnect', now: 3_000 }).then(disconnected);
    given(account, [connected, disconnected])
      .when(show)
      .thenThrows('account.not_found', /no such account/);
  });
});
