import { describe, expect, it } from '@jest/globals';
import { given } from '#libs/kernel/testing/decider-specification.js';
import { type ApiKeyEvent, type UserEvent, type WorkspaceEvent } from '../published.js';
import { apiKey, givenKeyId, hashOfKey } from './api-key.js';
import { nameIdOf, user } from './user.js';
import { workspace } from './workspace.js';

describe('user', () => {
  const register = { type: 'register', userId: 'u_1', username: 'ada', email: 'ada@example.com', now: 5 } as const;
  const registered: UserEvent = {
    type: 'UserRegistered',
    data: { userId: 'u_1', username: 'ada', email: 'ada@example.com', registeredAt: 5 },
  };

  it('is registered once', () => {
    given(user).when(register).then(registered);
    given(user, [registered])
      .when({ ...register, now: 9 })
      .thenNothingHappened();
  });

  it('keeps its name', () => {
    const other = { ...register, email: 'other@example.com' };
    given(user, [registered])
      .when(other)
      .thenThrows('user.already_exists', /ada is taken/);
    expect(nameIdOf('Ada')).toBe(nameIdOf('ada'));
  });

  it('gets the first drawn ids, on the stream of its name', () => {
    const reserve = { ...register, type: 'reserve_name', workspaceId: 'o_1' } as const;
    const reserved: UserEvent = {
      type: 'UsernameReserved',
      data: { username: 'ada', email: 'ada@example.com', userId: 'u_1', workspaceId: 'o_1', reservedAt: 5 },
    };
    given(user).when(reserve).then(reserved);
    given(user, [reserved])
      .when({ ...reserve, userId: 'u_2', workspaceId: 'o_2' })
      .thenState((state) => expect(state?.reserved).toEqual({ userId: 'u_1', workspaceId: 'o_1' }));
    given(user, [reserved])
      .when({ ...reserve, email: 'other@example.com' })
      .thenThrows('user.already_exists', /ada is taken/);
  });

  it.each(['', 'a b', '-ada', 'ada.', 'x'.repeat(41), 'añb'])('cannot have the name %j', (username) => {
    const error = given(user)
      .when({ ...register, username })
      .thenThrows('request.invalid_parameter', /username must be/);
    expect(error.details).toMatchObject({ field: 'username', limit: 40 });
  });

  it.each(['a', '7', 'Ada.Lovelace_1-x', 'x'.repeat(40)])('can have the name %j', (username) => {
    given(user)
      .when({ ...register, username })
      .thenState((state) => expect(state?.username).toBe(username));
  });

  it.each(['', 'ada', 'a b@c', '@x', 'a\0@b', 'a@b\ud800', `${'x'.repeat(260)}@y`])(
    'cannot have the address %j',
    (email) => {
      given(user)
        .when({ ...register, email })
        .thenThrows('request.invalid_parameter', /email must be/);
    },
  );
});

describe('workspace', () => {
  const create = {
    type: 'create',
    workspaceId: 'o_1',
    orgname: 'ada',
    name: 'A',
    email: 'a@b',
    ownerId: 'u_1',
    now: 5,
  } as const;
  const created: WorkspaceEvent = {
    type: 'WorkspaceCreated',
    data: { workspaceId: 'o_1', orgname: 'ada', name: 'A', email: 'a@b', ownerId: 'u_1', createdAt: 5 },
  };
  const add = { type: 'add_member', workspaceId: 'o_1', userId: 'u_2', role: 'member', now: 6 } as const;
  const added: WorkspaceEvent = { type: 'WorkspaceMemberAdded', data: { userId: 'u_2', role: 'member', addedAt: 6 } };

  it('is created once', () => {
    given(workspace).when(create).then(created);
    given(workspace, [created]).when(create).thenNothingHappened();
  });

  it('adds each member once, and has the owner from the start', () => {
    given(workspace, [created]).when(add).then(added);
    given(workspace, [created, added]).when(add).thenNothingHappened();
    given(workspace, [created])
      .when({ ...add, userId: 'u_1', role: 'owner' })
      .thenNothingHappened();
    given(workspace).when(add).thenThrows('workspace.not_found', /o_1/);
    given(workspace, [created, added])
      .when({ ...add, role: 'owner' })
      .thenThrows('member.already_exists', /as member/);
  });

  it('changes the role of a member, and removes one, who can come back', () => {
    const change = { ...add, type: 'change_role', role: 'read_only', now: 7 } as const;
    const changed: WorkspaceEvent = {
      type: 'WorkspaceMemberRoleChanged',
      data: { userId: 'u_2', role: 'read_only', changedAt: 7 },
    };
    const remove = { type: 'remove_member', workspaceId: 'o_1', userId: 'u_2', now: 8 } as const;
    const removed: WorkspaceEvent = { type: 'WorkspaceMemberRemoved', data: { userId: 'u_2', removedAt: 8 } };
    given(workspace, [created, added]).when(change).then(changed);
    given(workspace, [created, added, changed]).when(change).thenNothingHappened();
    given(workspace, [created, added]).when(remove).then(removed);
    given(workspace, [created, added, removed]).when(remove).thenThrows('member.not_found', /u_2/);
    given(workspace, [created, added, removed]).when(change).thenThrows('member.not_found');
    given(workspace, [created, added, removed]).when(add).then(added);
  });

  it('takes another name, which is checked like the first', () => {
    const rename = { type: 'rename', workspaceId: 'o_1', name: 'B', now: 7 } as const;
    const renamed: WorkspaceEvent = { type: 'WorkspaceRenamed', data: { name: 'B', renamedAt: 7 } };
    given(workspace, [created]).when(rename).then(renamed);
    given(workspace, [created, renamed]).when(rename).thenNothingHappened();
    given(workspace).when(rename).thenThrows('workspace.not_found', /o_1/);
    for (const name of ['', 'a\nb', 'x'.repeat(256)])
      given(workspace, [created])
        .when({ ...rename, name })
        .thenThrows('request.invalid_parameter', /1 to 255/);
  });

  it('is deleted once, has no members then, and never comes back', () => {
    const command = { type: 'delete', workspaceId: 'o_1', now: 8 } as const;
    const deleted: WorkspaceEvent = { type: 'WorkspaceDeleted', data: { deletedAt: 8 } };
    given(workspace, [created]).when(command).then(deleted);
    given(workspace, [created])
      .when(command)
      .thenState((state) => expect(state?.members).toEqual({}));
    given(workspace, [created, deleted]).when(command).thenNothingHappened();
    given(workspace).when(command).thenThrows('workspace.not_found', /o_1/);
    given(workspace, [created, deleted]).when(add).thenThrows('workspace.not_found', /o_1/);
    given(workspace, [created, deleted]).when(create).thenNothingHappened();
  });

  // docs/reference/rest-api.md#members
  it('lets everyone leave and step down, the last owner too, and takes an owner from the operator then', () => {
    const step = { type: 'change_role', workspaceId: 'o_1', userId: 'u_1', role: 'member', by: 'u_1', now: 7 } as const;
    const leave = { type: 'remove_member', workspaceId: 'o_1', userId: 'u_1', by: 'u_1', now: 7 } as const;
    for (const command of [step, leave]) {
      given(workspace, [created, added])
        .when(command)
        .thenState((state) => expect(Object.values(state?.members ?? {})).not.toContain('owner'));
    }
    const gone: WorkspaceEvent = { type: 'WorkspaceMemberRemoved', data: { userId: 'u_1', removedAt: 7 } };
    given(workspace, [created, added, gone])
      .when({ ...add, type: 'change_role', role: 'owner' })
      .thenState((state) => expect(state?.members).toEqual({ u_2: 'owner' }));
  });

  // docs/reference/rest-api.md#members
  it('changes others only for who is an owner at that moment', () => {
    const second: WorkspaceEvent = { type: 'WorkspaceMemberAdded', data: { userId: 'u_2', role: 'owner', addedAt: 6 } };
    const gone: WorkspaceEvent = { type: 'WorkspaceMemberRemoved', data: { userId: 'u_2', removedAt: 7 } };
    const by = (userId: string, target: string) =>
      ({ type: 'remove_member', workspaceId: 'o_1', userId: target, by: userId, now: 8 }) as const;
    // Of two owners who remove each other, the first succeeds.
    given(workspace, [created, second, gone]).when(by('u_2', 'u_1')).thenThrows('auth.not_an_owner');
    // A member cannot remove or add others, or change roles. Each may leave.
    given(workspace, [created, added])
      .when(by('u_2', 'u_1'))
      .thenThrows('auth.not_an_owner', /only an owner/);
    given(workspace, [created, added])
      .when({ ...add, type: 'change_role', role: 'owner', by: 'u_2' })
      .thenThrows('auth.not_an_owner');
    given(workspace, [created, added])
      .when({ ...add, userId: 'u_3', by: 'u_2' })
      .thenThrows('auth.not_an_owner');
    given(workspace, [created, added])
      .when(by('u_2', 'u_2'))
      .thenState((state) => expect(state?.members).toEqual({ u_1: 'owner' }));
  });
});

describe('API key', () => {
  const keyHash = hashOfKey('sk_1');
  const issue = { type: 'issue', keyId: 'key_1', userId: 'u_1', name: 'n', keyHash, handedOver: true, now: 5 } as const;
  const issued: ApiKeyEvent = {
    type: 'ApiKeyIssued',
    data: { keyId: 'key_1', userId: 'u_1', name: 'n', keyHash, issuedAt: 5 },
  };
  const handedOver: ApiKeyEvent = { type: 'ApiKeyHandedOver', data: { handedOverAt: 5 } };
  const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: { revokedAt: 6 } };
  const revoke = { type: 'revoke', keyId: 'key_1', userId: 'u_1', now: 6 } as const;

  it('is issued once', () => {
    given(apiKey).when(issue).then(issued, handedOver);
    given(apiKey)
      .when({ ...issue, handedOver: false })
      .then(issued);
    given(apiKey, [issued]).when(issue).thenNothingHappened();
    given(apiKey, [issued, revoked]).when(issue).thenNothingHappened();
  });

  it('for tools only is another event, which an older release does not take for a key for everything', () => {
    const tools = ['send_mail', 'slack-send'];
    const forTools: ApiKeyEvent = { type: 'ToolsKeyIssued', data: { ...issued.data, tools } };
    given(apiKey)
      .when({ ...issue, limits: { tools } })
      .then(forTools, handedOver);
    const limits = { tools, readOnly: true, expiresAt: 9 } as const;
    given(apiKey)
      .when({ ...issue, limits, handedOver: false })
      .then({ type: 'ToolsKeyIssued', data: { ...issued.data, ...limits } });
    given(apiKey, [forTools]).when(issue).thenNothingHappened();
    given(apiKey, [forTools]).when(revoke).then(revoked);
    given(apiKey, [forTools, revoked])
      .when({ ...issue, limits: { tools } })
      .thenNothingHappened();
  });

  it('is handed over once', () => {
    const handOver = { type: 'hand_over', now: 5 } as const;
    given(apiKey, [issued]).when(handOver).then(handedOver);
    given(apiKey, [issued, handedOver]).when(handOver).thenNothingHappened();
    given(apiKey, [issued, revoked]).when(handOver).thenNothingHappened();
    given(apiKey).when(handOver).thenNothingHappened();
  });

  it('is revoked once, and only by its user', () => {
    given(apiKey, [issued, handedOver]).when(revoke).then(revoked);
    given(apiKey, [issued, revoked]).when(revoke).thenNothingHappened();
    given(apiKey, [issued])
      .when({ ...revoke, userId: 'u_2' })
      .thenThrows('api_key.not_found', /key_1/);
    given(apiKey).when(revoke).thenThrows('api_key.not_found');
  });

  it('has an id derived from its text when it is given', () => {
    expect(givenKeyId(hashOfKey('sk_1'))).toBe(givenKeyId(keyHash));
    expect(givenKeyId(hashOfKey('sk_2'))).not.toBe(givenKeyId(keyHash));
  });
});
