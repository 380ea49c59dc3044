import { afterEach, describe, expect, it } from '@jest/globals';
import { dataOf, errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { attemptsProjection, disableWebhook } from './index.js';
import { attempt, closeWorlds, world } from './testing/webhooks-world.js';

afterEach(closeWorlds);

describe('the URL of a webhook', () => {
  // docs/reference/rest-api.md#webhook-url-warning
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
  // docs/reference/rest-api.md#webhook-update
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

  // docs/reference/rest-api.md#webhook-active #webhook-disabled
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
  // docs/reference/rest-api.md#webhook-new-key
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
  // docs/reference/rest-api.md#webhook-delete
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
