import { describe, expect, it } from '@jest/globals';
import { GoldenEvents, type GoldenName } from '#libs/kernel/testing/golden-events.js';
import { tenancyContext } from './context.js';
import { apiKey } from './domain/api-key.js';
import { user } from './domain/user.js';
import { workspace } from './domain/workspace.js';
import { type ApiKeyEvent, type UserEvent, type WorkspaceEvent } from './published.js';

type TenancyEvent = UserEvent | WorkspaceEvent | ApiKeyEvent;

const golden = new GoldenEvents(tenancyContext);

const USER = 'u_0k2f9x8a1b3c5d7e9f';
const OTHER = 'u_1k2f9x8a1b3c5d7e9f';
const key = (...names: GoldenName<ApiKeyEvent>[]) => golden.after(apiKey, ...names);
const space = (...names: GoldenName<WorkspaceEvent>[]) => golden.after(workspace, ...names);

/** Complete by type, so a new event does not compile without its case. */
const CASES: Record<TenancyEvent['type'], () => void> = {
  UserRegistered: () => {
    expect(golden.after(user, 'UserRegistered')).toEqual({ username: 'owner', email: 'owner@localhost' });
  },
  UsernameReserved: () => {
    const state = golden.after(user, 'UsernameReserved');
    const reserved = { userId: 'u_0mwrhusq5lzzkp1ry1', workspaceId: 'o_0mwrhusq5kq1vz0d7c' };
    expect(state).toEqual({ username: 'ada', email: 'ada@example.com', reserved });
  },
  EmailReserved: () => {
    const state = golden.after(user, 'EmailReserved');
    expect(state).toEqual({ username: 'ada', email: 'Ada@example.com' });
  },
  WorkspaceCreated: () =>
    expect(space('WorkspaceCreated')).toEqual({
      name: 'My workspace',
      ownerId: USER,
      members: { [USER]: 'owner' },
    }),
  WorkspaceRenamed: () => expect(space('WorkspaceCreated', 'WorkspaceRenamed')).toMatchObject({ name: 'Research' }),
  WorkspaceDeleted: () =>
    expect(space('WorkspaceCreated', 'WorkspaceDeleted')).toMatchObject({ members: {}, isDeleted: true }),
  WorkspaceMemberAdded: () => {
    const state = space('WorkspaceCreated', 'WorkspaceMemberAdded');
    expect(state?.members).toEqual({ [USER]: 'owner', [OTHER]: 'read_only' });
  },
  WorkspaceMemberRoleChanged: () => {
    const state = space('WorkspaceCreated', 'WorkspaceMemberAdded', 'WorkspaceMemberRoleChanged');
    expect(state?.members).toEqual({ [USER]: 'owner', [OTHER]: 'owner' });
  },
  WorkspaceMemberRemoved: () => {
    const state = space('WorkspaceCreated', 'WorkspaceMemberAdded', 'WorkspaceMemberRemoved');
    expect(state?.members).toEqual({ [USER]: 'owner' });
  },
  ApiKeyIssued: () => {
    const limits = { readOnly: true, expiresAt: 1_795_248_000_000 };
    expect(key('ApiKeyIssued.limits')).toMatchObject({ limits });
    expect(key('ApiKeyIssued')).toMatchObject({
      limits: {},
      userId: USER,
      name: 'first key',
      handedOver: false,
      revoked: false,
    });
  },
  ToolsKeyIssued: () => {
    const tools = ['send_mail', 'slack-send-message'];
    const limits = { readOnly: true, expiresAt: 1_795_248_000_000, tools };
    expect(key('ToolsKeyIssued.limits')?.limits).toEqual(limits);
    expect(key('ToolsKeyIssued')).toMatchObject({ limits: { tools }, userId: USER, name: 'agent', revoked: false });
  },
  ApiKeyHandedOver: () => expect(key('ApiKeyIssued', 'ApiKeyHandedOver')).toMatchObject({ handedOver: true }),
  ApiKeyRevoked: () => expect(key('ApiKeyIssued', 'ApiKeyRevoked')).toMatchObject({ revoked: true }),
};

describe('every version of an event of tenancy', () => {
  it.each(Object.entries(CASES))('%s folds', (_, check) => check());
});
