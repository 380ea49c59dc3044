import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/upcasters.js';
import { apiKey } from './domain/api-key.js';
import { user } from './domain/user.js';
import { workspace } from './domain/workspace.js';
import { type ApiKeyEvent, type UserEvent, type WorkspaceEvent } from './published.js';

type TenancyEvent = UserEvent | WorkspaceEvent | ApiKeyEvent;

const upcasters = makeUpcasters();

/** An event as a shipped version wrote it (test/fixtures/events), upcast to the current version. */
const golden = async <E extends TenancyEvent>(type: E['type'], version: number): Promise<E> => {
  const file = new URL(`../../test/fixtures/events/${type}.v${version}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(version);
  const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as E;
};

const USER = 'u_0k2f9x8a1b3c5d7e9f';
const key = async (...types: ApiKeyEvent['type'][]) => {
  let state = apiKey.initialState();
  for (const type of types) state = apiKey.evolve(state, await golden<ApiKeyEvent>(type, 1));
  return state;
};
const space = async (...types: WorkspaceEvent['type'][]) => {
  let state = workspace.initialState();
  for (const type of types) state = workspace.evolve(state, await golden<WorkspaceEvent>(type, 1));
  return state;
};

/** Complete by type, so a new event does not compile without its case. */
const CASES: Record<TenancyEvent['type'], () => Promise<void>> = {
  UserRegistered: async () => {
    const state = user.evolve(user.initialState(), await golden<UserEvent>('UserRegistered', 1));
    expect(state).toEqual({ username: 'owner', email: 'owner@localhost' });
  },
  UsernameReserved: async () => {
    const state = user.evolve(user.initialState(), await golden<UserEvent>('UsernameReserved', 1));
    const reserved = { userId: 'u_0mwrhusq5lzzkp1ry1', workspaceId: 'o_0mwrhusq5kq1vz0d7c' };
    expect(state).toEqual({ username: 'ada', email: 'ada@example.com', reserved });
  },
  EmailReserved: async () => {
    const state = user.evolve(user.initialState(), await golden<UserEvent>('EmailReserved', 1));
    expect(state).toEqual({ username: 'ada', email: 'Ada@example.com' });
  },
  WorkspaceCreated: async () => expect(await space('WorkspaceCreated')).toEqual({ ownerId: USER, members: [USER] }),
  WorkspaceMemberAdded: async () =>
    expect((await space('WorkspaceCreated', 'WorkspaceMemberAdded'))?.members).toEqual([USER, 'u_1k2f9x8a1b3c5d7e9f']),
  ApiKeyIssued: async () =>
    expect(await key('ApiKeyIssued')).toMatchObject({
      userId: USER,
      name: 'first key',
      handedOver: false,
      revoked: false,
    }),
  ApiKeyHandedOver: async () =>
    expect(await key('ApiKeyIssued', 'ApiKeyHandedOver')).toMatchObject({ handedOver: true }),
  ApiKeyRevoked: async () => expect(await key('ApiKeyIssued', 'ApiKeyRevoked')).toMatchObject({ revoked: true }),
};

describe('every version of an event of tenancy', () => {
  it.each(Object.entries(CASES))('%s still folds', async (_, check) => check());

  it('has a fixture for the version that the current code writes', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
