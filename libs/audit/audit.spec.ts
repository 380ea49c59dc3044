import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { httpTestApp, TEST_CALLER } from '#libs/http/testing/http-test-app.js';
import { dataOf, errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { type Decider } from '#libs/kernel/decider.js';
import { commandHandler } from '#libs/kernel/handle-command.js';
import { context } from '#libs/kernel/testing/counter.js';
import { InMemoryReadModels } from '#libs/kernel/testing/in-memory-read-models.js';
import { InMemoryEventStore } from '#libs/kernel/testing/in-memory-event-store.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { auditable } from '#libs/kernel/auditable.js';
import { AuditModule } from './index.js';

interface Renamed {
  readonly type: 'Renamed';
  readonly data: { readonly name: string; readonly keyRef: string };
}
/** A resource with a name, whose state and events hold a reference to a secret. */
const thing: Decider<string, Renamed, { name: string; keyRef: string; steps: number }> = {
  category: 'thing',
  initialState: () => ({ name: '', keyRef: '', steps: 0 }),
  decide: (name) => [{ type: 'Renamed', data: { name, keyRef: 'sec_1' } }],
  evolve: ({ steps }, { data }) => ({ ...data, steps: steps + 1 }),
};

const START = Date.UTC(2026, 0, 1);

describe('GET /v1/audit/{id}', () => {
  let app: NestExpressApplication;
  let now = START;

  const get = (path: string, key = 'mine') =>
    request(app.getHttpServer()).get(path).set('Authorization', `Bearer ${key}`);

  beforeAll(async () => {
    const store = new InMemoryEventStore({ now: () => now });
    const upcasters = new Upcasters();
    const handle = commandHandler({ store, upcasters });
    for (let n = 0; n < 12; n++) {
      now = START + n * 60_000;
      await handle(thing, 'wh_1', `name ${n}`, context(`cmd-${n}`, { correlationId: `req-${n}` }));
    }
    await handle(thing, 'wh_other', 'theirs', context('cmd-other', { workspaceId: 'o_2' }));
    app = await httpTestApp({
      imports: [
        AuditModule.forRoot({
          events: store,
          readModels: new InMemoryReadModels(),
          upcasters,
          auditable: [auditable('wh', thing, ({ name, keyRef }) => ({ name, keyRef }))],
        }),
      ],
      callers: { mine: TEST_CALLER, theirs: { ...TEST_CALLER, workspaceIds: ['o_2'] } },
    });
  });
  afterAll(() => app.close());

  // docs/reference/rest-api.md#audit-entry #audit-masking
  it('lists actor, change and time of each event, newest last, without secrets', async () => {
    const reply = await get('/v1/audit/wh_1');
    expect(itemsOf(reply)).toHaveLength(12);
    expect(itemsOf(reply)[3]).toEqual({
      revision: 3,
      type: 'Renamed',
      at: '2026-01-01T00:03:00.000Z',
      actor: { user_id: 'u_1', api_key_id: 'key_1' },
      data: { name: 'name 3', keyRef: '********' },
      position: '00000000000000000004',
      request_id: 'req-3',
    });
    expect(reply.body).toMatchObject({
      page_info: { total_count: 12, count: 12, start_cursor: '0', end_cursor: '11' },
    });
    expect(reply.text).not.toContain('sec_1');
  });

  it.each([
    ['limit=2', [0, 1]],
    ['limit=2&after=1', [2, 3]],
    ['limit=5&after=9', [10, 11]],
    ['after=11', []],
    ['limit=2&before=4', [2, 3]],
    ['before=2', [0, 1]],
    ['before=0', []],
    ['after=1&before=4', [2, 3]],
  ])('pages by revision: %s', async (query, revisions) => {
    expect(itemsOf(await get(`/v1/audit/wh_1?${query}`)).map((item) => item['revision'])).toEqual(revisions);
  });

  it.each([
    ['0', 'name 0'],
    ['11', 'name 11'],
    [String(START + 90_000), 'name 1'],
    [String(START / 1000 + 60), 'name 1'],
    ['2026-01-01T00:02:00.000Z', 'name 2'],
    ['2026-01-01T00:01:59.999Z', 'name 1'],
    ['2036-01-01', 'name 11'],
  ])('gives the resource as it was at %s', async (at, name) => {
    const reply = await get(`/v1/audit/wh_1?at=${at}`);
    expect(dataOf(reply)).toEqual({ name, keyRef: '********' });
  });

  it('names the revision of the shown resource', async () => {
    const reply = await get('/v1/audit/wh_1?at=2026-01-01T00:02:30Z&include=name');
    expect(reply.body).toEqual({ data: { name: 'name 2' }, as_of: { revision: 2, at: '2026-01-01T00:02:00.000Z' } });
  });

  it.each([
    ['/v1/audit/wh_nope', 404, 'not_found', /wh_nope/],
    ['/v1/audit/nonsense', 404, 'not_found', /nonsense/],
    ['/v1/audit/wh_other', 404, 'not_found', /wh_other/],
    ['/v1/audit/wh_other?at=0', 404, 'not_found', /wh_other/],
    ['/v1/audit/wh_1?at=12', 404, 'not_found', /no revision 12, its newest is 11/],
    [
      '/v1/audit/wh_1?at=2025-12-31',
      404,
      'not_found',
      /did not exist then: it was created at 2026-01-01T00:00:00.000Z/,
    ],
    ['/v1/audit/wh_1?at=yesterday', 400, 'invalid_at', /yesterday/],
    ['/v1/audit/wh_1?at=', 400, 'invalid_at', /at must be/],
    ['/v1/audit/wh_1?after=x', 400, 'invalid_cursor', /after/],
    ['/v1/audit/wh_1?limit=0', 400, 'invalid_parameter', /limit/],
  ])('%s is %i', async (path, status, code, text) => {
    const error = errorOf(await get(path));
    expect(error).toMatchObject({ status, code });
    expect(error.error).toMatch(text);
  });

  it('shows each workspace only its own resources', async () => {
    expect((await get('/v1/audit/wh_other', 'theirs')).status).toBe(200);
    expect((await get('/v1/audit/wh_1', 'theirs')).status).toBe(404);
  });
});
