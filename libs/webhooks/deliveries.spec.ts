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
      response_headers: { 'x-n': '1' },
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

  // docs/reference/rest-api.md#deliveries-list
  it('are chosen by outcome, status and time, in pages of their own', async () => {
    const { call, create, recorded } = await world();
    const { id } = await create();
    await recorded(...[1, 2, 3, 4, 5].map((n) => attempt(id, n, n % 2 === 1 ? { status: 500 + n } : {})));
    const idsOf = async (query: string) => {
      const reply = await call('get', `/v1/webhooks/${id}/deliveries?${query}`);
      const { page_info: info } = reply.body as { page_info: { total_count: number; end_cursor: string } };
      return { ids: itemsOf(reply).map((item) => item['id']), total: info.total_count, end: info.end_cursor };
    };
    expect((await idsOf('outcome=retry')).ids).toEqual(['dlv_5', 'dlv_3', 'dlv_1']);
    expect((await idsOf('status=503')).ids).toEqual(['dlv_3']);
    expect((await idsOf('since=1700000002001&until=1700000004001')).ids).toEqual(['dlv_4', 'dlv_3', 'dlv_2']);
    const first = await idsOf('outcome=retry&limit=2');
    expect(first).toMatchObject({ ids: ['dlv_5', 'dlv_3'], total: 3 });
    expect((await idsOf(`outcome=retry&limit=2&after=${first.end}`)).ids).toEqual(['dlv_1']);
    expect((await idsOf(`outcome=retry&limit=1&before=${first.end}`)).ids).toEqual(['dlv_5']);
    for (const [query, text] of [
      ['outcome=failed', /outcome must be one of success, retry, final; got failed/],
      ['status=700', /status must be a status from 100 to 599; got 700/],
      ['since=yesterday', /since must be a time/],
    ] as const) {
      const reply = await call('get', `/v1/webhooks/${id}/deliveries?${query}`);
      expect(errorOf(reply)).toMatchObject({ status: 400, code: 'invalid_parameter' });
      expect(errorOf(reply).error).toMatch(text);
    }
  });

  // docs/reference/rest-api.md#webhook-test
  it('can be tested with one attempt, also while the webhook is inactive', async () => {
    const { call, create, tests } = await world();
    const { id } = await create();
    await call('put', `/v1/webhooks/${id}?active=false`);
    const reply = await call('post', `/v1/webhooks/${id}/test`).send({ payload: [1, { a: null }], event_name: 'x' });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data: {
        id: expect.stringMatching(/^dlv_/),
        ts: 1_700_000_000_000,
        attempt: 1,
        outcome: 'final',
        status: 503,
        ms: 5,
        error: 'status 503',
        next_attempt_at: null,
        response: 'away',
        response_headers: { via: 'test' },
        emit_id: expect.stringMatching(/^\w{27}$/),
        event_id: expect.stringMatching(/^\d+-0$/),
        emitter_id: 'o_1',
        event_name: 'x',
        test: true,
      },
    });
    expect(tests).toMatchObject([{ webhook: id, emitter: 'o_1', channel: 'x', body: '[1,{"a":null}]' }]);
    await call('post', `/v1/webhooks/${id}/test`);
    expect(tests[1]).toMatchObject({ channel: '', body: '{"test":true}' });
    expect(itemsOf(await call('get', `/v1/webhooks/${id}/deliveries`))).toEqual([]);
    expect((await call('post', `/v1/webhooks/${id}/test`, 'other')).status).toBe(404);
  });

  // docs/reference/rest-api.md#delivery-get
  it('are shown with their attempts and what is sent, without signatures', async () => {
    const { call, create, recorded, payloads } = await world();
    const { id } = await create();
    await recorded(attempt(id, 1, { status: 503 }), attempt(id, 1, { attempt: 2 }), attempt(id, 2));
    payloads.set('dc_a//1700000000000-1', '{"big":  3544790567247868102}');
    const list = itemsOf(await call('get', `/v1/webhooks/${id}/deliveries`));
    const reply = await call('get', `/v1/webhooks/${id}/deliveries/dlv_1`);
    const masked = { 'webhook-signature': '********', 'x-pd-signature': '********' };
    expect(reply.body).toEqual({
      data: {
        id: 'dlv_1',
        emitter_id: 'dc_a',
        event_id: '1700000000000-1',
        emit_id: 'emit-1',
        event_name: '',
        attempts: [list[2], list[1]],
        request: {
          method: 'POST',
          url: 'https://example.com/hook',
          headers: { 'content-type': 'application/json', 'webhook-id': 'dlv_1', 'x-pd-attempt': '2', ...masked },
        },
        body: expect.anything(),
      },
    });
    expect(reply.text).toContain('"body":{"big":  3544790567247868102}');
    expect((await call('get', `/v1/webhooks/${id}/deliveries/dlv_2`)).body).toMatchObject({ data: { body: null } });
    for (const unknown of ['dlv_3', 'nonsense']) {
      const error = errorOf(await call('get', `/v1/webhooks/${id}/deliveries/${unknown}`));
      expect(error).toMatchObject({ status: 404, code: 'delivery_not_found' });
    }
    expect((await call('get', `/v1/webhooks/${id}/deliveries/dlv_1`, 'other')).status).toBe(404);
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
