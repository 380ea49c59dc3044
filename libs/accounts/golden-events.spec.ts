import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { account, type AccountState } from './domain/account.js';
import { type AccountEvent } from './published.js';

const upcasters = makeUpcasters();

const golden = async (type: AccountEvent['type'], variant = ''): Promise<AccountEvent> => {
  const file = new URL(`../../test/fixtures/events/${type}.v1${variant}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as AccountEvent;
};

/** A type may be followed by the variant of its fixture. */
const after = async (
  ...types: (AccountEvent['type'] | `${AccountEvent['type']}.${string}`)[]
): Promise<AccountState> => {
  let state = account.initialState();
  for (const each of types) {
    const [type = '', variant] = each.split('.');
    const event = await golden(type as AccountEvent['type'], variant === undefined ? '' : `.${variant}`);
    state = account.evolve(state, event);
  }
  return state;
};

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

const CASES: Record<AccountEvent['type'], () => Promise<void>> = {
  AccountConnected: async () => expect(await after('AccountConnected')).toEqual(CONNECTED),
  AccountUpdated: async () =>
    expect(await after('AccountConnected', 'AccountUpdated')).toEqual({
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
  AccountRefreshStarted: async () =>
    expect(await after('AccountConnected', 'AccountUpdated', 'AccountRefreshStarted')).toMatchObject({
      oauth: { attempt: { credentialsRef: 'sec_2k2f9x8a1b3c5d7e9f', until: 1763712361000 }, interrupted: false },
    }),
  AccountRefreshed: async () =>
    expect(await after('AccountConnected', 'AccountUpdated', 'AccountRefreshed')).toMatchObject({
      credentialsRef: 'sec_2k2f9x8a1b3c5d7e9f',
      oauth: { ref: 'sec_3k2f9x8a1b3c5d7e9f', expiresAt: 1763715902000, refreshedAt: 1763712302000, failures: 0 },
    }),
  AccountRefreshFailed: async () =>
    expect(await after('AccountConnected', 'AccountUpdated', 'AccountRefreshFailed')).toMatchObject({
      oauth: { failures: 1, failure: { reason: 'the token server answered 400 invalid_grant', retryAt: null } },
    }),
  AccountCredentialsShown: async () =>
    expect(await after('AccountConnected', 'AccountCredentialsShown')).toEqual(CONNECTED),
  AccountDisconnected: async () =>
    expect(await after('AccountConnected', 'AccountDisconnected')).toEqual({ status: 'disconnected' }),
};

describe('every version of an event of accounts', () => {
  it.each(Object.entries(CASES))('%s folds', async (_, check) => check());

  it('keeps what refreshes the token over an update without oauth, and ends it with one that is null', async () => {
    const oauth = {
      ref: 'sec_4k2f9x8a1b3c5d7e9f',
      expiresAt: 1763712600000,
      refreshAt: 1763712300000,
      refreshedAt: null,
      failures: 0,
    };
    const updated = { ...CONNECTED, credentialsRef: 'sec_1k2f9x8a1b3c5d7e9f', updatedAt: 1763712001000 };
    expect(await after('AccountConnected.oauth')).toEqual({ ...CONNECTED, oauth });
    expect(await after('AccountConnected.oauth', 'AccountUpdated.plain')).toEqual({
      ...updated,
      name: 'Team 2',
      oauth,
    });
    expect(await after('AccountConnected.oauth', 'AccountUpdated.ended')).toEqual({ ...updated, name: null });
    expect(await after('AccountConnected', 'AccountUpdated.plain')).toEqual({ ...updated, name: 'Team 2' });
  });

  it('is written by the current code in a version with a fixture', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
