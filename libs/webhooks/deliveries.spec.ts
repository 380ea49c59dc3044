import { afterEach, describe, expect, it } from '@jest/globals';
import { errorOf, itemsOf } from '#libs/http/testing/replies.js';
import { attempt, closeWorlds, world } from './testing/webhooks-world.js';

afterEach(closeWorlds);

describe('deliveries', () => {
  // docs/reference/rest-api.md#deliveries-list
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

  // docs/reference/rest-api.md#deliveries-list
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

  // docs/reference/rest-api.md#redeliver
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

  // docs/reference/rest-api.md#redeliver #redeliver-many
  it('cannot be sent again while the webhook is inactive, singly or together', async () => {
    const { call, create, recorded } = await world();
    const { id } = await create();
    await recorded(attempt(id, 1));
    await call('put', `/v1/webhooks/${id}`).send({ active: false });
    for (const path of ['dlv_1/redeliver', 'redeliver'])
      expect(errorOf(await call('post', `/v1/webhooks/${id}/deliveries/${path}`))).toMatchObject({
        status: 409,
        code: 'webhook_inactive',
        error: expect.stringContaining('active=true'),
      });
  });

  // docs/reference/rest-api.md#redeliver
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
