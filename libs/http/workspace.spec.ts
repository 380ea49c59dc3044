import { Controller, Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Request } from 'express';
import request from 'supertest';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from './callers.js';
import { OpenToAll } from './access.js';
import { CurrentCaller } from './caller.js';
import { httpTestApp, TEST_CALLER, TEST_KEY } from './testing/http-test-app.js';
import { memberOf, namedWorkspace, ownedBy, workspaceOf } from './workspace.js';

const isWorkspace = (id: string): boolean => ['o_1', 'o_2', 'o_3'].includes(id);
const two: Caller = { ...TEST_CALLER, workspaceIds: ['o_1', 'o_2'], isWorkspace };

const failure = (act: () => unknown): DomainError => {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it did not throw');
};

/** Routes that never read the parameter, so only the HTTP edge can apply it. */
@Controller('v1/things')
class ThingsController {
  static made = 0;

  @Get()
  list(@CurrentCaller() caller: Caller): object {
    return { data: { found: ownedBy(caller), within: caller.workspaceIds } };
  }

  @Post()
  @HttpCode(200)
  make(@CurrentCaller() caller: Caller, @Req() _: Request): object {
    ThingsController.made++;
    return { data: { owner: workspaceOf(caller) } };
  }

  @Delete()
  @HttpCode(204)
  remove(): void {
    ThingsController.made++;
  }

  @Get('open')
  @OpenToAll()
  open(): string {
    return 'open';
  }
}

describe('workspace_id and org_id of a route that does not read them', () => {
  let app: NestExpressApplication;
  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController], callers: { [TEST_KEY]: two } });
  });
  afterAll(() => app.close());

  const call = (method: 'get' | 'post' | 'delete', query: string, body?: object) => {
    const made = request(app.getHttpServer())[method](`/v1/things${query}`).set('Authorization', `Bearer ${TEST_KEY}`);
    return body === undefined ? made : made.send(body);
  };

  it('narrow the caller to the named workspace', async () => {
    expect((await call('get', '')).body).toEqual({
      data: { found: { userId: 'u_1', workspaceId: ['o_1', 'o_2'] }, within: ['o_1', 'o_2'] },
    });
    const narrowed = { data: { found: { userId: 'u_1', workspaceId: 'o_2' }, within: ['o_2'] } };
    expect((await call('get', '?workspace_id=o_2')).body).toEqual(narrowed);
    expect((await call('get', '?org_id=o_2&workspace_id=o_2')).body).toEqual(narrowed);
    expect((await call('post', '', { org_id: 'o_2' })).body).toEqual({ data: { owner: 'o_2' } });
    expect((await call('get', '?workspace_id=')).body).toMatchObject({ data: { within: ['o_1', 'o_2'] } });
  });

  it.each([
    ['o_9', 404, 'workspace_not_found'],
    ['o_3', 403, 'not_a_member'],
  ])('refuse %s with %i, before anything changes', async (id, status, code) => {
    const before = ThingsController.made;
    for (const field of ['workspace_id', 'org_id']) {
      for (const reply of [
        await call('get', `?${field}=${id}`),
        await call('delete', `?${field}=${id}`),
        await call('delete', '', { [field]: id }),
        await call('post', '', { [field]: id }),
        await call('post', `?${field}=${id}`, {}),
      ]) {
        expect({ status: reply.status, body: reply.body as unknown }).toMatchObject({ status, body: { code } });
      }
    }
    expect(ThingsController.made).toBe(before);
    expect((await call('delete', '?workspace_id=o_1')).status).toBe(204);
    expect(ThingsController.made).toBe(before + 1);
  });

  it('refuse a list, an object, a number, and two names for two workspaces', async () => {
    const before = ThingsController.made;
    for (const reply of [
      await call('get', '?workspace_id=o_1&workspace_id=o_1'),
      await call('post', '', { workspace_id: ['o_1'] }),
      await call('post', '', { org_id: { id: 'o_1' } }),
      await call('post', '', { org_id: 1 }),
      await call('get', '?workspace_id=o_1&org_id=o_2'),
      await call('post', '?workspace_id=o_1', { workspace_id: 'o_2' }),
    ]) {
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({ code: 'invalid_parameter' });
    }
    expect(ThingsController.made).toBe(before);
  });

  it('are ignored on a route that is open to all', async () => {
    const reply = await request(app.getHttpServer()).get('/v1/things/open?workspace_id=o_9');
    expect([reply.status, reply.text]).toEqual([200, 'open']);
  });
});

describe('the workspace of an operation', () => {
  it('is the named one, else the only one of the memberships', () => {
    expect(workspaceOf(TEST_CALLER)).toBe('o_1');
    const writer = { ...two, workspaceIds: ['o_1'], memberships: ['o_1', 'o_2'] };
    for (const caller of [two, { ...two, workspaceIds: [] }, writer]) {
      const error = failure(() => workspaceOf(caller));
      expect([error.code, error.message]).toEqual(['workspace.required', 'please specify a valid workspace']);
    }
  });

  // docs/reference/rest-api.md#acting-workspace
  it('is that of the account while the user is in it, whatever others add', () => {
    const added = { ...two, home: 'o_2' };
    expect(workspaceOf(added)).toBe('o_2');
    expect(workspaceOf({ ...added, workspaceIds: ['o_1'], named: 'o_1', memberships: ['o_1', 'o_2'] })).toBe('o_1');
    // It stays when others make the user read-only there: a change is refused and has no effect elsewhere.
    const reader = { ...added, workspaceIds: ['o_1'], memberships: ['o_1', 'o_2'] };
    expect(failure(() => workspaceOf(reader)).code).toBe('auth.read_only_member');
  });

  it('in a path must be a workspace of the caller and the named one', () => {
    expect(memberOf(two, 'o_2')).toBe('o_2');
    const within = { ...two, workspaceIds: ['o_1'], named: 'o_1', memberships: two.workspaceIds };
    expect(failure(() => memberOf(two, 'o_3')).code).toBe('auth.not_a_member');
    expect(failure(() => memberOf(two, 'o_9')).code).toBe('workspace.not_found');
    expect(failure(() => memberOf(within, 'o_2')).code).toBe('workspace.not_found');
    expect(failure(() => memberOf(within, 'o_3')).code).toBe('auth.not_a_member');
  });

  it('is read from own fields of query and body, not from inherited ones', () => {
    expect(namedWorkspace(Object.create({ workspace_id: 'o_1' }), null)).toBeUndefined();
    expect(namedWorkspace({ workspace_id: 'o_1' }, 'text')).toBe('o_1');
  });
});
