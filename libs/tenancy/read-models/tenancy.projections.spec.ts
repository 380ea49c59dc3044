import { describe, expect, it } from '@jest/globals';
import { history, type HistoryEntry } from '#libs/kernel/testing/recorded.js';
import { projecting } from '#libs/kernel/testing/projection-specification.js';
import { CallersView } from '../callers-view.js';
import { type ApiKeyIssued, type ToolsKeyIssued, type UserRegistered, type WorkspaceCreated } from '../published.js';
import { apiKeysProjection } from './api-keys.projection.js';
import { usersProjection } from './users.projection.js';
import { workspacesProjection } from './workspaces.projection.js';

const registered: UserRegistered = {
  type: 'UserRegistered',
  data: { userId: 'u_1', username: 'ada', email: 'a@b', registeredAt: 5 },
};
const created: WorkspaceCreated = {
  type: 'WorkspaceCreated',
  data: { workspaceId: 'o_1', orgname: 'ada', name: 'A', email: 'a@b', ownerId: 'u_1', createdAt: 5 },
};
const issued = (keyId: string, keyHash: string, userId = 'u_1'): ApiKeyIssued => ({
  type: 'ApiKeyIssued',
  data: { keyId, userId, name: keyId, keyHash, issuedAt: 5 },
});
const forTools = (key: ApiKeyIssued, ...tools: readonly string[]): ToolsKeyIssued => ({
  type: 'ToolsKeyIssued',
  data: { ...key.data, tools },
});
const handedOver = { type: 'ApiKeyHandedOver', data: { handedOverAt: 6 } };
const revoked = { type: 'ApiKeyRevoked', data: { revokedAt: 7 } };
const deleted = { type: 'WorkspaceDeleted', data: { deletedAt: 8 } };
const added = (userId: string) => ({ type: 'WorkspaceMemberAdded', data: { userId, role: 'member', addedAt: 6 } });

describe('read models of tenancy', () => {
  it('users', () => {
    projecting(usersProjection)
      .given(history(['user-u_1', registered], ['other-x', { type: 'Other', data: {} }]))
      .numberOfTimes(2)
      .then('u_1', { id: 'u_1', username: 'ada', email: 'a@b', registeredAt: '000000000000005' });
  });

  it('workspaces', () => {
    projecting(workspacesProjection)
      .given(history(['workspace-o_1', created], ['workspace-o_1', added('u_2')]))
      .numberOfTimes(2)
      .then('o_1', {
        id: 'o_1',
        orgname: 'ada',
        name: 'A',
        email: 'a@b',
        ownerId: 'u_1',
        members: { u_1: 'owner', u_2: 'member' },
        createdAt: '000000000000005',
      });
  });

  it('workspaces with another name, and none that is deleted', () => {
    const renamed = { type: 'WorkspaceRenamed', data: { name: 'B', renamedAt: 6 } };
    projecting(workspacesProjection)
      .given(history(['workspace-o_1', created], ['workspace-o_1', renamed]))
      .numberOfTimes(2)
      .then('o_1', {
        id: 'o_1',
        orgname: 'ada',
        name: 'B',
        email: 'a@b',
        ownerId: 'u_1',
        members: { u_1: 'owner' },
        createdAt: '000000000000005',
      });
    projecting(workspacesProjection)
      .given(history(['workspace-o_1', created], ['workspace-o_1', deleted]))
      .numberOfTimes(2)
      .then('o_1', undefined);
  });

  it('API keys in force', () => {
    projecting(apiKeysProjection)
      .given(
        history(
          ['apikey-key_1', issued('key_1', 'aa')],
          ['apikey-key_2', issued('key_2', 'bb')],
          ['apikey-key_3', forTools(issued('key_3', 'cc'), 'send_mail')],
          ['apikey-key_4', forTools(issued('key_4', 'dd'), 'send_mail')],
          ['apikey-key_1', revoked],
          ['apikey-key_4', revoked],
        ),
      )
      .numberOfTimes(3)
      .then('key_1', undefined)
      .then('key_2', {
        id: 'key_2',
        userId: 'u_1',
        name: 'key_2',
        readOnly: false,
        expiresAt: null,
        tools: null,
        issuedAt: '000000000000005',
      })
      .then('key_3', {
        id: 'key_3',
        userId: 'u_1',
        name: 'key_3',
        readOnly: false,
        expiresAt: null,
        tools: ['send_mail'],
        issuedAt: '000000000000005',
      })
      .then('key_4', undefined);
  });
});

describe('callers', () => {
  const hash = (digit: string): string => digit.repeat(64);
  const view = (...entries: readonly HistoryEntry[]): CallersView => {
    const callers = new CallersView();
    for (const event of history(...entries)) callers.apply(event);
    return callers;
  };

  it('are found by the hash of their key, with their workspaces', () => {
    const callers = view(
      ['workspace-o_1', created],
      ['workspace-o_2', { ...created, data: { ...created.data, workspaceId: 'o_2', ownerId: 'u_2' } }],
      ['apikey-key_1', issued('key_1', hash('a'))],
      ['workspace-o_2', added('u_1')],
      ['source-dc_1', { type: 'SourceDeployed', data: {} }],
    );
    const caller = callers.callerOf(hash('a'));
    expect(caller).toMatchObject({ userId: 'u_1', apiKeyId: 'key_1', workspaceIds: ['o_1', 'o_2'] });
    expect([caller?.isWorkspace?.('o_2'), caller?.isWorkspace?.('o_3')]).toEqual([true, false]);
    for (const other of [hash('b'), '', 'a', hash('a').slice(2)]) expect(callers.callerOf(other)).toBeUndefined();
  });

  // docs/reference/rest-api.md#acting-workspace
  it('have the workspace of their account until they leave it, whatever others do', () => {
    const reserved = {
      type: 'UsernameReserved',
      data: { username: 'ada', email: 'a@b', userId: 'u_1', workspaceId: 'o_1', reservedAt: 5 },
    };
    const removed = { type: 'WorkspaceMemberRemoved', data: { userId: 'u_1', removedAt: 7 } };
    const further = { ...created, data: { ...created.data, workspaceId: 'o_2', ownerId: 'u_2' } };
    const entries: readonly HistoryEntry[] = [
      ['user-u_name', reserved],
      ['user-u_1', registered],
      ['apikey-key_1', issued('key_1', hash('a'))],
      ['workspace-o_2', further],
      ['workspace-o_2', added('u_1')],
    ];
    const homeAfter = (...more: readonly HistoryEntry[]) => view(...entries, ...more).callerOf(hash('a'))?.home;
    // Reserved, and not created yet.
    expect(homeAfter()).toBeUndefined();
    expect(homeAfter(['workspace-o_1', created])).toBe('o_1');
    expect(homeAfter(['workspace-o_1', created], ['workspace-o_2', removed])).toBe('o_1');
    expect(homeAfter(['workspace-o_1', created], ['workspace-o_1', removed])).toBeUndefined();
    // Another member added the user again.
    const back: readonly HistoryEntry[] = [
      ['workspace-o_1', created],
      ['workspace-o_1', removed],
      ['workspace-o_1', added('u_1')],
    ];
    expect(homeAfter(...back)).toBeUndefined();
    expect(homeAfter(['workspace-o_1', created], ['workspace-o_1', deleted])).toBeUndefined();
  });

  it('lose a revoked key and keep the others', () => {
    const callers = view(
      ['apikey-key_1', issued('key_1', hash('a'))],
      ['apikey-key_2', issued('key_2', hash('b'))],
      ['apikey-key_1', revoked],
    );
    expect(callers.callerOf(hash('a'))).toBeUndefined();
    expect(callers.callerOf(hash('b'))?.apiKeyId).toBe('key_2');
  });

  it('lose a key at its end, and learn what it may not do', () => {
    let now = 999;
    const callers = new CallersView({ now: () => now });
    const key = issued('key_1', hash('a'));
    const limited = { ...key, data: { ...key.data, readOnly: true as const, expiresAt: 1_000 } };
    const entries: readonly HistoryEntry[] = [
      ['workspace-o_1', created],
      ['apikey-key_1', limited],
      ['apikey-key_1', handedOver],
    ];
    for (const event of history(...entries)) callers.apply(event);
    expect(callers.callerOf(hash('a'))).toMatchObject({ isReadOnly: true, keyExpiresAt: 1_000 });
    expect(callers.mayRead('key_1', 'o_1')).toBe(true);
    expect(callers.usableKeys('u_1')).toBe(0);
    now = 1_000;
    expect(callers.callerOf(hash('a'))).toBeUndefined();
    expect(callers.mayRead('key_1', 'o_1')).toBe(false);
  });

  // docs/reference/rest-api.md#api-key-tools
  it('learn which tools alone their key opens, until it ends or is revoked', () => {
    let now = 999;
    const callers = new CallersView({ now: () => now });
    const limited = { ...issued('key_1', hash('a')).data, readOnly: true as const, expiresAt: 1_000 };
    const entries: readonly HistoryEntry[] = [
      ['workspace-o_1', created],
      ['apikey-key_1', forTools({ type: 'ApiKeyIssued', data: limited }, 'a', 'b')],
      ['apikey-key_1', handedOver],
      ['apikey-key_2', forTools(issued('key_2', hash('b')), 'c')],
      ['apikey-key_2', handedOver],
      ['apikey-key_3', issued('key_3', hash('c'))],
    ];
    for (const event of history(...entries)) callers.apply(event);
    const toolsOf = (key: string) => callers.callerOf(hash(key))?.tools;
    expect(callers.callerOf(hash('a'))).toMatchObject({ userId: 'u_1', isReadOnly: true, workspaceIds: ['o_1'] });
    expect([toolsOf('a'), toolsOf('b'), toolsOf('c')]).toEqual([new Set(['a', 'b']), new Set(['c']), undefined]);
    // It is no key with which the user could do everything again.
    expect(callers.usableKeys('u_1')).toBe(0);
    now = 1_000;
    expect(callers.callerOf(hash('a'))).toBeUndefined();
    for (const event of history(['apikey-key_2', revoked])) callers.apply(event);
    expect(callers.callerOf(hash('b'))).toBeUndefined();
  });

  it('have a role in each workspace, until they leave', () => {
    const at = (type: string, data: object): HistoryEntry => ['workspace-o_1', { type, data }];
    const key = ['apikey-key_2', issued('key_2', hash('b'), 'u_2')] as const;
    const joined: readonly HistoryEntry[] = [['workspace-o_1', created], key, ['workspace-o_1', added('u_2')]];
    expect(
      view(...joined)
        .callerOf(hash('b'))
        ?.roleIn?.('o_1'),
    ).toBe('member');
    const changed = at('WorkspaceMemberRoleChanged', { userId: 'u_2', role: 'read_only', changedAt: 7 });
    const reader = view(...joined, changed);
    expect(reader.callerOf(hash('b'))?.roleIn?.('o_1')).toBe('read_only');
    expect(reader.mayRead('key_2', 'o_1')).toBe(true);
    const left = view(...joined, changed, at('WorkspaceMemberRemoved', { userId: 'u_2', removedAt: 8 }));
    expect(left.callerOf(hash('b'))?.workspaceIds).toEqual([]);
    expect(left.mayRead('key_2', 'o_1')).toBe(false);
  });

  it('lose a deleted workspace, and keep the others', () => {
    const second = { ...created, data: { ...created.data, workspaceId: 'o_2' } };
    const counts: number[] = [];
    const callers = new CallersView();
    callers.watchWorkspaces((workspaces) => void counts.push(workspaces));
    const entries: readonly HistoryEntry[] = [
      ['workspace-o_1', created],
      ['workspace-o_2', second],
      ['apikey-key_1', issued('key_1', hash('a'))],
      ['workspace-o_1', deleted],
    ];
    for (const event of history(...entries)) callers.apply(event);
    const caller = callers.callerOf(hash('a'));
    expect(caller?.workspaceIds).toEqual(['o_2']);
    expect(caller?.isWorkspace?.('o_1')).toBe(false);
    expect(callers.mayRead('key_1', 'o_1')).toBe(false);
    expect(counts).toEqual([1, 2, 1]);
  });

  it('count the keys that users hold', () => {
    const entries: readonly HistoryEntry[] = [
      ['apikey-key_1', issued('key_1', hash('a'))],
      ['apikey-key_1', handedOver],
      ['apikey-key_2', issued('key_2', hash('b'))],
      ['apikey-key_3', issued('key_3', hash('c'), 'u_2')],
      ['apikey-key_3', handedOver],
    ];
    expect(view(...entries).usableKeys('u_1')).toBe(1);
    expect(view(...entries, ['apikey-key_1', revoked]).usableKeys('u_1')).toBe(0);
  });
});
