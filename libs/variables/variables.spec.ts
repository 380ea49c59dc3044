import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type Caller } from '#libs/http/callers.js';
import { type ConfigureHttpOptions } from '#libs/http/configure-http.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { itemsOf } from '#libs/http/testing/replies.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { tokenMatches } from '#libs/kernel/token-hash.js';
import { VariableCleanUpReactor } from './clean-up/variable-clean-up.reactor.js';
import { variableId } from './domain/variable.js';
import { TokenHashes } from './token-hashes.js';
import { VariablesModule } from './variables.module.js';
import { VariablesView } from './variables-view.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const PATH = '/v1/workspaces/o_1/variables';

const caller = (userId: string, more: Partial<Caller> = {}): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds: ['o_1'],
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
  ...more,
});

const contextOf = (commandId: string): CommandContext => ({
  commandId,
  correlationId: 'c',
  causationId: 'c',
  actor: { userId: 'u_1', apiKeyId: 'key_1' },
  workspaceId: 'o_1',
});

const world = async () => {
  const view = new VariablesView();
  const plane = await ControlPlane.start({
    projections: [],
    views: [view],
    reactors: ({ vault }) => [new VariableCleanUpReactor(vault)],
  });
  closing.push(() => plane.stop());
  const serving = async (
    handleCommand: HandleCommand = plane.handleCommand,
    configure: Partial<ConfigureHttpOptions> = {},
  ) => {
    const ports = { ...plane.ports(), handleCommand, variables: view, resourceLimits: { variablesPerWorkspace: 3 } };
    const app = await httpTestApp({
      imports: [VariablesModule.forRoot(ports)],
      http: plane.ports(),
      callers: {
        one: caller('u_1'),
        other: caller('u_2', { workspaceIds: ['o_2'] }),
        reader: caller('u_3', { roleIn: () => 'read_only' }),
        readKey: caller('u_1', { isReadOnly: true }),
      },
      configure,
    });
    closing.unshift(() => app.close());
    return (method: 'get' | 'put' | 'delete', path: string, key = 'one') =>
      request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  };
  const call = await serving();
  const set = (name: string, value: unknown, key?: string) => call('put', `${PATH}/${name}`, key).send({ value });
  const secrets = () => [...plane.vault.secrets.values()].map(({ plaintext }) => plaintext);
  return { plane, view, serving, call, set, secrets };
};

describe('variables of a workspace', () => {
  // docs/reference/rest-api.md#variables #variable-fields
  it('are set, listed by name without their values, and deleted', async () => {
    const { plane, call, set, secrets } = await world();
    const reply = await set('B', 'first value');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ data: { name: 'B', updated_at: 1_700_000_000 } });
    await set('A', 'x');
    for (const path of [PATH, '/v1/orgs/o_1/variables']) {
      const listed = await call('get', path);
      expect(itemsOf(listed).map(({ name }) => name)).toEqual(['A', 'B']);
      expect(listed.text).not.toContain('value');
    }
    expect((await call('delete', `${PATH}/A`)).status).toBe(204);
    expect(itemsOf(await call('get', PATH)).map(({ name }) => name)).toEqual(['B']);
    const again = await call('delete', `${PATH}/A`);
    expect(again.status).toBe(404);
    expect(again.body).toMatchObject({ code: 'variable_not_found', details: { name: 'A' } });
    await plane.idle();
    expect(secrets()).toEqual(['first value']);
  });

  it('leave no value behind that was replaced', async () => {
    const { plane, set, secrets } = await world();
    for (const value of ['old', 'newer', 'newest']) await set('A', value);
    await plane.idle();
    expect(secrets()).toEqual(['newest']);
    const events = await plane.eventsOf(`variable-${variableId('o_1', 'A')}`);
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain('newest');
  });

  it('keep no value of a change that lost to others', async () => {
    const { plane, serving, secrets } = await world();
    const call = await serving(async () => {
      throw new RevisionConflict('variable-var_1', 1n, 2n);
    });
    expect((await call('put', `${PATH}/A`).send({ value: 'x' })).status).toBe(409);
    expect(secrets()).toEqual([]);
    expect(await plane.eventsOf(`variable-${variableId('o_1', 'A')}`)).toEqual([]);
  });

  it('keep a value whose event may have been stored', async () => {
    const { serving, secrets } = await world();
    const call = await serving(async () => {
      throw new Error('the connection broke');
    });
    expect((await call('put', `${PATH}/A`).send({ value: 'x' })).status).toBe(500);
    expect(secrets()).toEqual(['x']);
  });

  // docs/reference/limits.md#count-limits
  it('are limited in number, and may be changed at the limit', async () => {
    const { set } = await world();
    for (const name of ['A', 'B', 'C']) await set(name, 'x');
    const reply = await set('D', 'x');
    expect(reply.status).toBe(409);
    expect(reply.body).toMatchObject({ code: 'limit_reached', details: { limit: 3, actual: 3 } });
    expect((await set('C', 'y')).status).toBe(200);
  });

  // docs/reference/rest-api.md#variable-set
  it.each([
    ['no value', undefined, 'missing_parameter'],
    ['null', null, 'missing_parameter'],
    ['an empty value', '', 'invalid_parameter'],
    ['a number', 5, 'invalid_parameter'],
    ['a NUL', 'secret\0', 'invalid_parameter'],
    ['more than 64 KB', `secret${'€'.repeat(21_845)}`, 'invalid_parameter'],
    ['far more than 64 KB', `secret${'x'.repeat(70_000)}`, 'invalid_parameter'],
  ])('refuse %s, and show nothing of it', async (_, value, code) => {
    const { serving, secrets } = await world();
    const call = await serving(undefined, { maxBodyBytes: 256 * 1_024 });
    const reply = await call('put', `${PATH}/A`).send({ value });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ code, details: { field: 'value' } });
    expect(reply.text).not.toContain('secret');
    expect(secrets()).toEqual([]);
  });

  it.each(['NODE_OPTIONS', 'LD_PRELOAD', 'SLUICE_X', '1A', 'A-B', 'A%0AB', 'x'.repeat(101)])(
    'refuse the name %s',
    async (name) => {
      const { set, secrets } = await world();
      const reply = await set(name, 'x');
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({ code: 'invalid_parameter', details: { field: 'name' } });
      expect(secrets()).toEqual([]);
    },
  );

  // docs/reference/rest-api.md#roles
  it('are read by every member, changed by those who may write, and hidden from others', async () => {
    const { call, set } = await world();
    await set('A', 'x');
    for (const key of ['reader', 'readKey']) {
      expect((await call('get', PATH, key)).status).toBe(200);
      expect((await set('A', 'y', key)).status).toBe(403);
      expect((await call('delete', `${PATH}/A`, key)).status).toBe(403);
    }
    expect((await call('get', PATH, 'other')).status).toBe(403);
    expect((await set('A', 'y', 'other')).status).toBe(403);
    expect((await call('delete', `${PATH}/A`, 'other')).status).toBe(403);
    expect((await call('delete', '/v1/workspaces/o_2/variables/A', 'other')).status).toBe(404);
  });

  // docs/reference/workflows.md#trigger-token
  it('of which a hash is kept tell it to processes without a vault, and no reply shows it', async () => {
    const { plane, view, call, set } = await world();
    const hashes = new TokenHashes(plane.handleCommand, plane.vault, plane.ports().clock);
    const keep = (name: string, commandId: string) => hashes.keepHash(name, contextOf(commandId));
    const isToken = (name: string, token: string): boolean => {
      const hash = view.hashOf('o_1', name);
      return hash !== undefined && tokenMatches(hash, token);
    };
    await set('A', 'first-token');
    expect(view.hashOf('o_1', 'A')).toBeUndefined();
    await keep('A', 'one');
    await keep('A', 'two');
    await keep('LATER', 'three');
    await plane.idle();
    expect([isToken('A', 'first-token'), isToken('A', 'other-token')]).toEqual([true, false]);
    expect(await plane.eventsOf(`variable-${variableId('o_1', 'A')}`)).toHaveLength(2);
    expect(view.hashOf('o_1', 'LATER')).toBeUndefined();
    const version = view.versionOf('o_1');
    await set('A', 'second-token');
    await set('LATER', 'third-token');
    expect([isToken('A', 'first-token'), isToken('A', 'second-token'), isToken('LATER', 'third-token')]).toEqual([
      false,
      true,
      true,
    ]);
    expect(view.versionOf('o_1')).not.toBe(version);
    await set('A', 'short');
    await call('delete', `${PATH}/LATER`);
    expect([view.hashOf('o_1', 'A'), view.hashOf('o_1', 'LATER')]).toEqual([undefined, undefined]);
    await set('LATER', 'fourth-token');
    expect(isToken('LATER', 'fourth-token')).toBe(true);
  });

  it('get the hash of the value that they have when it is written', async () => {
    const { plane, view, set } = await world();
    await set('A', 'first-token');
    const vault = {
      // Another request changes the value between its reading and the event.
      get: async (ref: string, workspaceId: string) => {
        const value = await plane.vault.get(ref, workspaceId);
        if (value === 'first-token') await set('A', 'second-token');
        return value;
      },
    };
    await new TokenHashes(plane.handleCommand, vault, plane.ports().clock).keepHash('A', contextOf('one'));
    await plane.idle();
    const hash = view.hashOf('o_1', 'A');
    expect(hash && [tokenMatches(hash, 'first-token'), tokenMatches(hash, 'second-token')]).toEqual([false, true]);
  });

  it('have a version that changes with each change', async () => {
    const { view, call, set } = await world();
    const seen = [view.versionOf('o_1')];
    await set('A', 'x');
    seen.push(view.versionOf('o_1'));
    await set('A', 'x');
    seen.push(view.versionOf('o_1'));
    await set('B', 'x');
    seen.push(view.versionOf('o_1'));
    await call('delete', `${PATH}/B`);
    seen.push(view.versionOf('o_1'));
    expect(new Set(seen).size).toBe(5);
    await call('delete', `${PATH}/A`);
    expect(view.versionOf('o_1')).toBe('');
    expect(view.versionOf('o_2')).toBe('');
  });
});
