import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { accountsContext } from './context.js';
import { account } from './domain/account.js';
import { type AccountEvent } from './published.js';

const golden = new GoldenEvents(accountsContext);

const after = (...names: GoldenName<AccountEvent>[]) => golden.after(account, ...names);

const CONNECTED = {
  status: 'connected',
  id: 'apn_0k2f9x8a1b3c5d7e9f',
  userId: 'u_0k2f9x8a1b3c5d7e9f',
  name: 'Team',
  app: 'slack',
  credentialsRef: 'sec_0k2f9x8a1b3c5d7e9f',
  createdAt: 1763712000000,
  updatedAt: 1763712000000,
};

const CASES: Record<AccountEvent['type'], () => void> = {
  AccountConnected: () => expect(after('AccountConnected')).toEqual(CONNECTED),
  AccountUpdated: () =>
    expect(after('AccountConnected', 'AccountUpdated')).toEqual({
      ...CONNECTED,
      name: null,
      credentialsRef: 'sec_1k2f9x8a1b3c5d7e9f',
      updatedAt: 1763712001000,
      oauth: {
        ref: 'sec_3k2f9x8a1b3c5d7e9f',
        expiresAt: 1763712601000,
        refreshAt: 1763712301000,
        refreshedAt: null,
        failures: 0,
      },
    }),
  AccountRefreshStarted: () =>
    expect(after('AccountConnected', 'AccountUpdated', 'AccountRefreshStarted')).toMatchObject({
      oauth: { attempt: { credentialsRef: 'sec_2k2f9x8a1b3c5d7e9f', until: 1763712361000 }, interrupted: false },
    }),
  AccountRefreshed: () =>
    expect(after('AccountConnected', 'AccountUpdated', 'AccountRefreshed')).toMatchObject({
      credentialsRef: 'sec_2k2f9x8a1b3c5d7e9f',
      oauth: { ref: 'sec_3k2f9x8a1b3c5d7e9f', expiresAt: 1763715902000, refreshedAt: 1763712302000, failures: 0 },
    }),
  AccountRefreshFailed: () =>
    expect(after('AccountConnected', 'AccountUpdated', 'AccountRefreshFailed')).toMatchObject({
      oauth: { failures: 1, failure: { reason: 'the token server answered 400 invalid_grant', retryAt: null } },
    }),
  AccountCredentialsShown: () => expect(after('AccountConnected', 'AccountCredentialsShown')).toEqual(CONNECTED),
  AccountDisconnected: () =>
    expect(after('AccountConnected', 'AccountDisconnected')).toEqual({ status: 'disconnected' }),
};

describe('every version of an event of accounts', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());

  it('keeps what refreshes the token over an update without oauth, and ends it with one that is null', () => {
    const oauth = {
      ref: 'sec_4k2f9x8a1b3c5d7e9f',
      expiresAt: 1763712600000,
      refreshAt: 1763712300000,
      refreshedAt: null,
      failures: 0,
    };
    const updated = { ...CONNECTED, credentialsRef: 'sec_1k2f9x8a1b3c5d7e9f', updatedAt: 1763712001000 };
    expect(after('AccountConnected.oauth')).toEqual({ ...CONNECTED, oauth });
    expect(after('AccountConnected.oauth', 'AccountUpdated.plain')).toEqual({
      ...updated,
      name: 'Team 2',
      oauth,
    });
    expect(after('AccountConnected.oauth', 'AccountUpdated.ended')).toEqual({ ...updated, name: null });
    expect(after('AccountConnected', 'AccountUpdated.plain')).toEqual({ ...updated, name: 'Team 2' });
  });
});
