import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { makeUpcasters } from '#libs/composition/contexts.js';
import { apiKey } from './domain/api-key.js';
import { user } from './domain/user.js';
import { workspace } from './domain/workspace.js';
import { type ApiKeyEvent, type UserEvent, type WorkspaceEvent } from './published.js';

type TenancyEvent = UserEvent | WorkspaceEvent | ApiKeyEvent;

const upcasters = makeUpcasters();

/** A type, or one of its variants with optional fields. */
type Fixture<E extends TenancyEvent> = E['type'] | `${E['type']}.limits`;

/** A golden event (test/fixtures/events), upcast to the current version. */
const golden = async <E extends TenancyEvent>(name: Fixture<E>, version: number): Promise<E> => {
  const [type = '', variant] = name.split('.');
  const ending = variant === undefined ? `v${version}` : `v${version}.${variant}`;
  const file = new URL(`../../test/fixtures/events/${type}.${ending}.json`, import.meta.url);
  const { data, schemaVersion } = JSON.parse(await readFile(file, 'utf8')) as { data: object; schemaVersion: number };
  expect(schemaVersion).toBe(version);
  const lifted = upcasters.upcast(recorded('x-1', { type, data }, { metadata: { schemaVersion } }));
  return { type: lifted.type, data: lifted.data } as E;
};

const USER = 'u_0k2f9x8a1b3c5d7e9f';
const OTHER = 'u_1k2f9x8a1b3c5d7e9f';
const key = async (...types: Fixture<ApiKeyEvent>[]) => {
  let state = apiKey.initialState();
  for (const type of types) state = apiKey.evolve(state, await golden<ApiKeyEvent>(type, 1));
  return state;
};
const space = async (...types: Fixture<WorkspaceEvent>[]) => {
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
  WorkspaceCreated: async () =>
    expect(await space('WorkspaceCreated')).toEqual({
      name: 'My workspace',
      ownerId: USER,
      members: { [USER]: 'owner' },
    }),
  WorkspaceRenamed: async () =>
    expect(await space('WorkspaceCreated', 'WorkspaceRenamed')).toMatchObject({ name: 'Research' }),
  WorkspaceDeleted: async () =>
    expect(await space('WorkspaceCreated', 'WorkspaceDeleted')).toMatchObject({ members: {}, isDeleted: true }),
  WorkspaceMemberAdded: async () => {
    const state = await space('WorkspaceCreated', 'WorkspaceMemberAdded');
    expect(state?.members).toEqual({ [USER]: 'owner', [OTHER]: 'read_only' });
  },
  WorkspaceMemberRoleChanged: async () => {
    const state = await space('WorkspaceCreated', 'WorkspaceMemberAdded', 'WorkspaceMemberRoleChanged');
    expect(state?.members).toEqual({ [USER]: 'owner', [OTHER]: 'owner' });
  },
  WorkspaceMemberRemoved: async () => {
    const state = await space('WorkspaceCreated', 'WorkspaceMemberAdded', 'WorkspaceMemberRemoved');
    expect(state?.members).toEqual({ [USER]: 'owner' });
  },
  ApiKeyIssued: async () => {
    const limits = { readOnly: true, expiresAt: 1_795_248_000_000 };
    expect(await key('ApiKeyIssued.limits')).toMatchObject({ limits });
    expect(await key('ApiKeyIssued')).toMatchObject({
      limits: {},
      userId: USER,
      name: 'first key',
      handedOver: false,
      revoked: false,
    });
  },
  ApiKeyHandedOver: async () =>
    expect(await key('ApiKeyIssued', 'ApiKeyHandedOver')).toMatchObject({ handedOver: true }),
  ApiKeyRevoked: async () => expect(await key('ApiKeyIssued', 'ApiKeyRevoked')).toMatchObject({ revoked: true }),
};

describe('every version of an event of tenancy', () => {
  it.each(Object.entries(CASES))('%s folds', async (_, check) => check());

  it('has a fixture for the version that the current code writes', () => {
    for (const type of Object.keys(CASES)) expect(upcasters.currentVersion(type)).toBe(1);
  });
});
