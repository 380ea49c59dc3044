import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { dataOf, errorOf, itemsOf, type JsonObject } from '#libs/http/testing/replies.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { StreamProjector } from '#libs/stream-log/stream-projector.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type Caller } from '#libs/http/callers.js';
import {
  attemptsProjection,
  disableWebhook,
  WebhookCleanUpReactor,
  webhookProjections,
  WebhooksModule,
} from './index.js';

const topics = perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 });
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
});

const world = async () => {
  const reach = { refusalOf: (host: string) => (host === '10.0.0.1' ? 'a private address' : undefined) };
  const log = new InMemoryStreamLog();
  await log.createTopic(topics.attempts(), {});
  const webhookTopics = {
    create: async (id: string): Promise<void> => {
      for (const { topic, retention } of topics.ownedBy(id)) await log.createTopic(topic, retention);
    },
    remove: async (id: string): Promise<void> => {
      for (const { topic } of topics.ownedBy(id)) await log.deleteTopic(topic);
    },
  };
  const made: { attempts?: StreamProjector } = {};
  const plane = await ControlPlane.start({
    projections: webhookProjections,
    reactors: ({ events, vault, readModels }) => {
      const projection = attemptsProjection;
      const attempts = new StreamProjector({ projection, log, readModels, gatherMs: 1, onFailure: () => undefined });
      made.attempts = attempts;
      return [new WebhookCleanUpReactor({ events, vault, topics: webhookTopics, attempts })];
    },
  });
  await made.attempts!.start();
  const payloads = new Map<string, string>();
  const payloadOf = async (...parts: string[]): Promise<string | undefined> => payloads.get(parts.join('/'));
  const app = await httpTestApp({
    imports: [
      WebhooksModule.forRoot({ ...plane.ports(), webhookTopics, retainedEvents: { payloadOf }, log, topics, reach }),
    ],
    http: plane.ports(),
    callers: { one: caller('u_1', 'o_1'), other: caller('u_2', 'o_2'), colleague: caller('u_3', 'o_1') },
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
    () => made.attempts!.stop(),
  );
  const call = (method: 'get' | 'post' | 'put' | 'delete', path: string, key = 'one') =>
    request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  const create = async (query = 'url=https://example.com/hook'): Promise<JsonObject & { readonly id: string }> => {
    const data = dataOf(await call('post', `/v1/webhooks?${query}`));
    return { ...data, id: data['id'] as string };
  };
  const recorded = async (...records: LogRecord[]): Promise<void> => {
    const offsets = await log.publish(records);
    await made.attempts!.waitApplied(topics.attempts(), offsets.at(-1) ?? 0, 5_000);
  };
  return { log, plane, payloads, call, create, recorded };
};

const attempt = (
  webhook: string,
  n: number,
  over: { readonly attempt?: number; readonly status?: number } = {},
): LogRecord => {
  const { attempt: number = 1, status = 200 } = over;
  return {
    topic: topics.attempts(),
    key: webhook,
    headers: {
      id: `dlv_${n}/${number}`,
      delivery: `dlv_${n}`,
      webhook,
      workspace: 'o_1',
      emitter: 'dc_a',
      channel: '',
      emit: `emit-${n}`,
      event: `1700000000000-${n}`,
      attempt: String(number),
      outcome: status === 200 ? 'success' : 'retry',
    },
    value: JSON.stringify({
      ts: 1_700_000_000_000 + n * 1_000 + number,
      ms: 12.4,
      status,
      error: status === 200 ? null : `status ${status}`,
      nextAttemptAt: status === 200 ? null : 1_700_000_099_000,
      responseSnippet: 'ok',
    }),
  };
};

describe('the URL of a webhook', () => {
  it('is accepted with a warning when deliveries to it will be refused', async () => {
    const { call, create } = await world();
    const warnings = [{ code: 'refused_address', message: expect.stringMatching(/will fail: a private/), path: 'url' }];
    expect((await call('post', '/v1/webhooks?url=http://10.0.0.1:8080/x')).body).toMatchObject({ warnings });
    const { id } = await create();
    expect((await call('put', `/v1/webhooks/${id}?url=http://10.0.0.1/`)).body).toMatchObject({ warnings });
    expect((await call('put', `/v1/webhooks/${id}?active=true`)).body).not.toHaveProperty('warnings');
  });
});

describe('POST /v1/webhooks', () => {
  it('reads the query, with a JSON content type and no body, and shows the key once', async () => {
    const { call, plane } = await world();
    const reply = await call('post', '/v1/webhooks?url=https://example.com/hook&name=Orders').type('application/json');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data: {
        id: expect.stringMatching(/^wh_[0-9a-z]{18}$/),
        user_id: 'u_1',
        name: 'Orders',
        description: null,
        url: 'https://example.com/hook',
        active: true,
        timeout_s: null,
        max_attempts: null,
        ordered: false,
        disabled_reason: null,
        revision: 0,
        signing_key_set: true,
        signing_key: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        created_at: 1_700_000_000,
        updated_at: 1_700_000_000,
      },
    });
    const { id, signing_key } = dataOf(reply);
    const [event] = await plane.eventsOf(`webhook-${JSON.stringify(id).slice(1, -1)}`);
    expect(JSON.stringify(event?.data)).not.toContain(signing_key);
    expect([...plane.vault.secrets.values()]).toEqual([{ workspaceId: 'o_1', plaintext: signing_key }]);
  });

  it('reads the body too, and makes the topic before the webhook is visible', async () => {
    const { call, log } = await world();
    const reply = await call('post', '/v1/webhooks').send({ url: 'http://localhost:1/x', description: 'd', name: '' });
    expect(dataOf(reply)).toMatchObject({ url: 'http://localhost:1/x', name: null, description: 'd' });
    expect(await log.topics('deliveries.')).toEqual([`deliveries.${dataOf(reply)['id'] as string}`]);
  });

  it.each([
    ['no url', '', 'missing_parameter', 'url'],
    ['a url without protocol', 'url=example.com', 'invalid_url', 'url'],
    ['another protocol', 'url=ftp://example.com', 'invalid_url', 'url'],
    ['two urls', 'url=https://a.example&url=https://b.example', 'invalid_parameter', 'url'],
    ['a long name', `url=https://a.example&name=${'n'.repeat(256)}`, 'invalid_parameter', 'name'],
  ])('refuses %s and leaves nothing behind', async (_, query, code, field) => {
    const { call, plane, log } = await world();
    const error = errorOf(await call('post', `/v1/webhooks?${query}`));
    expect(error).toMatchObject({ status: 400, code, details: { field } });
    expect(error.error).toContain(field);
    expect(await plane.events.lastPosition()).toMatch(/^0+$/);
    expect([plane.vault.secrets.size, await log.topics('deliveries.')]).toEqual([0, []]);
  });

  it('leaves no webhook after a failure between key and event', async () => {
    const { call, plane } = await world();
    plane.events.onNextAppend(async () => {
      throw new Error('disk full');
    });
    expect((await call('post', '/v1/webhooks?url=https://a.example')).status).toBe(500);
    expect(itemsOf(await call('get', '/v1/users/me/webhooks'))).toEqual([]);
  });
});

describe('reading webhooks', () => {
  it("lists the user's webhooks in pages, newest first, without keys", async () => {
    const { call, create } = await world();
    for (const n of [1, 2, 3]) await create(`url=https://example.com/${n}`);
    const first = await call('get', '/v1/users/me/webhooks?limit=2');
    expect(itemsOf(first).map((item) => item['url'])).toEqual(['https://example.com/3', 'https://example.com/2']);
    for (const item of itemsOf(first)) {
      expect(item).toMatchObject({ signing_key_set: true });
      expect(item).not.toHaveProperty('signing_key');
      expect(item).not.toHaveProperty('user_id');
    }
    const { page_info } = first.body as { page_info: { end_cursor: string; total_count: number } };
    expect(page_info.total_count).toBe(3);
    const lastId = itemsOf(first)[1]?.['id'] as string;
    expect(Buffer.from(page_info.end_cursor, 'base64').toString()).toBe(lastId);
    const second = await call('get', `/v1/users/me/webhooks?limit=2&after=${page_info.end_cursor}`);
    expect(itemsOf(second).map((item) => item['url'])).toEqual(['https://example.com/1']);
  });

  it('shows a webhook to members of its workspace, and answers others 404', async () => {
    const { call, create } = await world();
    const { id, signing_key, user_id, ...shown } = await create();
    expect([signing_key, user_id].every(Boolean)).toBe(true);
    for (const key of ['one', 'colleague'])
      expect(dataOf(await call('get', `/v1/webhooks/${id}`, key))).toEqual({ id, ...shown });
    for (const [method, path] of [
      ['get', ''],
      ['put', ''],
      ['delete', ''],
      ['post', '/regenerate_signing_key'],
      ['get', '/deliveries'],
      ['post', '/deliveries/dlv_1/redeliver'],
    ] as const) {
      for (const [webhook, key] of [
        [id, 'other'],
        ['wh_unknown', 'one'],
      ] as const) {
        const error = errorOf(await call(method, `/v1/webhooks/${webhook}${path}`, key));
        expect([method, path, error]).toMatchObject([method, path, { status: 404, code: 'webhook_not_found' }]);
      }
    }
  });
});

describe('PUT /v1/webhooks/{id}', () => {
  it('changes the given fields, from query or body', async () => {
    const { call, create } = await world();
    const { id } = await create('url=https://example.com&name=Old&description=Text');
    const reply = await call('put', `/v1/webhooks/${id}?active=false`).send({ name: 'New' });
    expect(reply.status).toBe(200);
    expect(dataOf(reply)).toMatchObject({ name: 'New', description: 'Text', active: false });
    const nothing = { name: null, description: null, active: true };
    const cleared = await call('put', `/v1/webhooks/${id}`).send(nothing);
    expect(dataOf(cleared)).toMatchObject(nothing);
    expect(dataOf(await call('get', `/v1/webhooks/${id}`))).toEqual(dataOf(cleared));
  });

  it('changes nothing when nothing is given', async () => {
    const { call, create, plane } = await world();
    const { id } = await create();
    expect((await call('put', `/v1/webhooks/${id}`).type('application/json')).status).toBe(200);
    expect(await plane.eventsOf(`webhook-${id}`)).toHaveLength(1);
  });

  it.each([
    [{ url: 'nonsense' }, 'invalid_url', 'url'],
    [{ active: 'maybe' }, 'invalid_parameter', 'active'],
    [{ name: 5 }, 'invalid_parameter', 'name'],
  ])('refuses %j', async (body, code, field) => {
    const { call, create } = await world();
    const { id } = await create();
    const refused = await call('put', `/v1/webhooks/${id}`).send(body);
    expect(errorOf(refused)).toMatchObject({ status: 400, code, details: { field } });
  });

  it('ends a disablement by the platform', async () => {
    const { call, create, plane } = await world();
    const { id } = await create();
    const disable = disableWebhook(plane.handleCommand, plane.clock);
    await disable(id, 'o_1', 'the endpoint answered 410');
    await disable(id, 'o_1', 'the endpoint answered 410');
    await disable('wh_gone', 'o_1', 'the endpoint answered 410');
    await plane.idle();
    const shown = dataOf(await call('get', `/v1/webhooks/${id}`));
    expect(shown).toMatchObject({ active: false, disabled_reason: 'the endpoint answered 410' });
    const enabled = dataOf(await call('put', `/v1/webhooks/${id}?active=true`));
    expect(enabled).toMatchObject({ active: true, disabled_reason: null });
  });
});

describe('POST /v1/webhooks/{id}/regenerate_signing_key', () => {
  it('shows the new key, and keeps both until the former one expires', async () => {
    const { call, create, plane } = await world();
    const { id, signing_key } = await create();
    const reply = await call('post', `/v1/webhooks/${id}/regenerate_signing_key`).type('application/json');
    expect(dataOf(reply)).toMatchObject({
      id,
      signing_key: expect.stringMatching(/^whsec_/),
      former_key_valid_until: 1_700_086_400,
    });
    expect(dataOf(reply)['signing_key']).not.toBe(signing_key);
    await plane.idle();
    const keys = (): unknown[] => [...plane.vault.secrets.values()].map(({ plaintext }) => plaintext);
    expect(keys()).toEqual([signing_key, dataOf(reply)['signing_key']]);
    plane.clock.time += 2 * 86_400_000;
    await call('post', `/v1/webhooks/${id}/regenerate_signing_key`);
    await plane.idle();
    expect(plane.vault.secrets.size).toBe(2);
    expect(keys()).not.toContain(signing_key);
  });
});

describe('DELETE /v1/webhooks/{id}', () => {
  it('removes topics, keys and attempts', async () => {
    const { call, create, plane, log, recorded } = await world();
    const { id } = await create();
    const kept = await create();
    await recorded(attempt(id, 1), attempt(kept.id, 2));
    const reply = await call('delete', `/v1/webhooks/${id}`).type('application/json');
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect((await call('delete', `/v1/webhooks/${id}`)).status).toBe(404);
    expect((await call('get', `/v1/webhooks/${id}`)).status).toBe(404);
    await plane.idle();
    expect(plane.failures).toEqual([]);
    expect(await log.topics('deliveries.')).toEqual([`deliveries.${kept.id}`]);
    expect(plane.vault.secrets.size).toBe(1);
    const where = { webhookId: id };
    expect((await plane.readModels.page(attemptsProjection.schema, { where, limit: 1 })).total).toBe(0);
    expect(itemsOf(await call('get', `/v1/webhooks/${kept.id}/deliveries`))).toHaveLength(1);
  });
});

describe('deliveries', () => {
  it('show every attempt, newest first', async () => {
    const { call, create, recorded } = await world();
    const { id } = await create();
    await recorded(attempt(id, 1, { status: 503 }), attempt(id, 1, { attempt: 2 }), attempt(id, 2));
    const reply = await call('get', `/v1/webhooks/${id}/deliveries`);
    expect(itemsOf(reply).map((item) => [item['id'], item['attempt'], item['status'], item['outcome']])).toEqual([
      ['dlv_2', 1, 200, 'success'],
      ['dlv_1', 2, 200, 'success'],
      ['dlv_1', 1, 503, 'retry'],
    ]);
    expect(itemsOf(reply)[2]).toEqual({
      id: 'dlv_1',
      ts: 1_700_000_001_001,
      attempt: 1,
      outcome: 'retry',
      status: 503,
      ms: 12,
      error: 'status 503',
      next_attempt_at: 1_700_000_099_000,
      response: 'ok',
      emit_id: 'emit-1',
      event_id: '1700000000000-1',
      emitter_id: 'dc_a',
      event_name: '',
    });
  });

  it('are the last 100 attempts, in pages on request, and count a repeated record once', async () => {
    const { call, create, recorded } = await world();
    const { id } = await create();
    await recorded(...Array.from({ length: 130 }, (_, n) => attempt(id, n)));
    await recorded(attempt(id, 129));
    const all = await call('get', `/v1/webhooks/${id}/deliveries`);
    expect(itemsOf(all)).toHaveLength(100);
    expect((all.body as { page_info: object }).page_info).toMatchObject({ total_count: 100, count: 100 });
    const first = await call('get', `/v1/webhooks/${id}/deliveries?limit=2`);
    const { end_cursor } = (first.body as { page_info: { end_cursor: string } }).page_info;
    const second = await call('get', `/v1/webhooks/${id}/deliveries?limit=2&after=${end_cursor}`);
    expect(itemsOf(second).map((item) => item['id'])).toEqual(['dlv_127', 'dlv_126']);
  });

  it('can be sent again with the same ids and body', async () => {
    const { call, create, recorded, payloads, log } = await world();
    const { id } = await create();
    await recorded(attempt(id, 1, { status: 503 }), attempt(id, 1, { attempt: 2 }));
    payloads.set('dc_a//1700000000000-1', '{"the":  "body"}');
    const reply = await call('post', `/v1/webhooks/${id}/deliveries/dlv_1/redeliver`).type('application/json');
    expect([reply.status, reply.body]).toEqual([200, { data: { id: 'dlv_1', queued: true } }]);
    const [record] = await log.read(`deliveries.${id}`, -1, 10);
    expect(record).toMatchObject({ key: id, value: '{"the":  "body"}' });
    expect(record?.headers).toMatchObject({
      id: 'dlv_1',
      webhook: id,
      workspace: 'o_1',
      emitter: 'dc_a',
      channel: '',
      emit: 'emit-1',
      event: '1700000000000-1',
      attempt: '1',
    });
  });

  it('cannot be sent again when unknown, of another webhook, or without a retained event', async () => {
    const { call, create, recorded } = await world();
    const { id } = await create();
    const other = await create();
    await recorded(attempt(other.id, 1), attempt(id, 2));
    for (const [delivery, text] of [
      ['dlv_9', 'no delivery dlv_9'],
      ['dlv_1', 'no delivery dlv_1'],
      ['dlv_2', 'no longer kept'],
    ]) {
      const error = errorOf(await call('post', `/v1/webhooks/${id}/deliveries/${delivery}/redeliver`));
      expect(error).toMatchObject({
        status: 404,
        code: 'delivery_not_found',
        error: expect.stringContaining(text ?? ''),
      });
    }
  });
});
