import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { type AccountEvent } from '../published.js';
import { type AccountDoc, accountsProjection } from './accounts.projection.js';

const oauth = { ref: 'sec_o', expiresAt: 10_000, refreshAt: 5_000 };
const connected: AccountEvent = {
  type: 'AccountConnected',
  data: { accountId: 'apn_1', userId: 'u_1', name: 'Team', app: 'slack', credentialsRef: 'sec_1', connectedAt: 1_000 },
};
const refreshing: AccountEvent = { ...connected, data: { ...connected.data, oauth } };
const failed: AccountEvent = {
  type: 'AccountRefreshFailed',
  data: { reason: 'it said no', failedAt: 6_000, retryAt: 16_000 },
};
const updated = (more: object): AccountEvent => ({
  type: 'AccountUpdated',
  data: { name: null, credentialsRef: 'sec_2', updatedAt: 2_000, ...more },
});

const after = (...events: AccountEvent[]): AccountDoc | undefined => {
  let doc: AccountDoc | undefined;
  for (const event of events) {
    const given = recorded('account-apn_1', event, { metadata: { workspaceId: 'o_1' } });
    for (const key of accountsProjection.keys(given)) doc = accountsProjection.evolve(doc, given, key);
  }
  return doc;
};

describe('the list of accounts', () => {
  it('holds an account without its credentials, by the time of its connection', () => {
    const doc = after(connected);
    expect(doc).toEqual({
      id: 'apn_1',
      revision: 0,
      workspaceId: 'o_1',
      userId: 'u_1',
      name: 'Team',
      app: 'slack',
      createdAt: '000000000001000',
      updatedAt: 1_000,
    });
    expect(JSON.stringify(after(refreshing, updated({ oauth })))).not.toContain('sec_');
  });

  it('follows its name and loses it when it is disconnected', () => {
    expect(after(connected, updated({}))).toMatchObject({ name: null, updatedAt: 2_000 });
    expect(after(connected, { type: 'AccountDisconnected', data: { disconnectedAt: 3_000 } })).toBeUndefined();
  });

  it('is not changed by a reader', () => {
    const shown: AccountEvent = { type: 'AccountCredentialsShown', data: { shownAt: 9_000 } };
    expect(after(connected, shown)).toEqual(after(connected));
  });

  it('tells of the last refresh', () => {
    expect(after(refreshing, failed)?.oauth).toMatchObject({ error: 'it said no', retryAt: 16_000, expiresAt: 10_000 });
    const done: AccountEvent = {
      type: 'AccountRefreshed',
      data: { credentialsRef: 'sec_3', replacedRef: 'sec_1', expiresAt: 90_000, refreshAt: 80_000, refreshedAt: 7_000 },
    };
    expect(after(refreshing, failed, done)?.oauth).toEqual({
      expiresAt: 90_000,
      refreshAt: 80_000,
      refreshedAt: 7_000,
      error: null,
      retryAt: null,
    });
  });

  it('keeps the refresh under a new name, and forgets its failure with new credentials', () => {
    expect(after(refreshing, failed, updated({}))?.oauth).toMatchObject({ error: 'it said no' });
    expect(after(refreshing, failed, updated({ oauth }))?.oauth).toMatchObject({ error: null });
    expect(after(refreshing, updated({ oauth: null }))).not.toHaveProperty('oauth');
    expect(after(connected, failed)).not.toHaveProperty('oauth');
  });
});
