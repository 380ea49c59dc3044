import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Source, type Subscription } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;

interface Replay {
  readonly id: string;
  readonly start_id: string;
  readonly end_id: string;
  readonly events: number;
  readonly rate: number;
  readonly started_at: number;
  readonly ends_at: number;
}

const replay = (subscriptionId: string, query: Record<string, string> = {}) =>
  api.call<Data<Replay> & ErrorBody>('POST', `/v1/subscriptions/${subscriptionId}/replay`, { query });
const waiting = async (subscriptionId: string): Promise<number> => {
  const path = `/v1/subscriptions/${subscriptionId}/replay`;
  return (await api.expect<Data<{ waiting: number }>>(200, 'GET', path)).data.waiting;
};
const idOf = async (emitterId: string, listenerId: string): Promise<string> =>
  (
    await api.expect<Data<Subscription>>(200, 'POST', '/v1/subscriptions', {
      query: { emitter_id: emitterId, listener_id: listenerId },
    })
  ).data.id;

/** A source with events, and the ids of those. */
const emitted = async (count: number): Promise<{ source: Source; ids: readonly string[] }> => {
  const source = await instance.deploy(relayCode());
  for (let n = 0; n < count; n++) await instance.post(source, { n });
  return { source, ids: (await instance.history(source, count)).map(({ id }) => id) };
};
const requestsTo = (webhookId: string) =>
  instance.receiver.received.filter(({ headers }) => headers['x-pd-webhook-id'] === webhookId);

// docs/reference/rest-api.md#subscription-replay
describe('a replay', () => {
  // docs/reference/rest-api.md#subscription-replay #replay-marks
  it('sends kept events to a new listener, in order, marked, and leaves later events alone', async () => {
    const { source, ids } = await emitted(5);
    const webhook = await instance.listen(source.id);
    const subscription = await idOf(source.id, webhook);
    const reply = await replay(subscription, { rate: '50' });
    expect(reply.status).toBe(202);
    expect(reply.body.data).toMatchObject({ events: 5, rate: 50, start_id: ids[0], end_id: ids[4] });
    expect(reply.body.data.ends_at - reply.body.data.started_at).toBe(100);
    await instance.receiver.until('five', () => requestsTo(webhook).length === 5);
    expect(instance.arrived(webhook)).toEqual([0, 1, 2, 3, 4].map((n) => ({ n })));
    for (const { headers } of requestsTo(webhook)) expect(headers['x-pd-replay']).toBe(reply.body.data.id);
    await instance.post(source, { n: 5 });
    await instance.receiver.until('the live one', () => requestsTo(webhook).length === 6);
    expect(requestsTo(webhook)[5]?.headers).not.toHaveProperty('x-pd-replay');
    // An entry waits until the outcome of its delivery is durable.
    await eventually('nothing waits', async () => (await waiting(subscription)) === 0 || undefined);
  });

  // docs/reference/rest-api.md#subscription-replay
  it('is a second delivery of the same event, under an id of its own, of the range that was asked for', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    for (let n = 0; n < 4; n++) await instance.post(source, { n });
    const ids = (await instance.history(source, 4)).map(({ id }) => id);
    await instance.receiver.until('four', () => requestsTo(webhook).length === 4);
    const range = { start_id: ids[1] ?? '', end_id: ids[2] ?? '' };
    expect((await replay(await idOf(source.id, webhook), range)).body.data.events).toBe(2);
    await instance.receiver.until('two more', () => requestsTo(webhook).length === 6);
    expect(instance.arrived(webhook).slice(4)).toEqual([{ n: 1 }, { n: 2 }]);
    const header = (name: string, n: number) => requestsTo(webhook)[n]?.headers[name];
    expect(header('x-pd-emit-id', 4)).toBe(header('x-pd-emit-id', 1));
    expect(header('webhook-id', 4)).not.toBe(header('webhook-id', 1));
  });

  // docs/reference/rest-api.md#replay-marks
  it('runs a source that listens, within the filter, and tells its errors', async () => {
    const { source } = await emitted(4);
    const code = `run(event) { this.$emit(event); if (event.n === 3) throw new Error('three'); },`;
    const listening = await instance.deploy(componentCode({ members: code }));
    const query = { emitter_id: source.id, listener_id: listening.id };
    const body = { filter: { n: { gte: 2 } } };
    const { data } = await api.expect<Data<Subscription>>(200, 'POST', '/v1/subscriptions', { query, body });
    await replay(data.id);
    expect(await instance.payloads(listening, 2)).toEqual([{ n: 2 }, { n: 3 }]);
    const [error] = await instance.history(listening, 1, '$errors');
    expect(error?.event).toMatchObject({ original_event: { n: 3 }, original_context: { replay: true } });
  });

  // docs/reference/rest-api.md#replay-one
  it('keeps to its rate, goes on after a restart, and runs one at a time', async () => {
    const { source } = await emitted(6);
    const webhook = await instance.listen(source.id);
    const subscription = await idOf(source.id, webhook);
    await replay(subscription, { rate: '1' });
    const second = await replay(subscription);
    expect(second).toMatchObject({ status: 409, body: { code: 'replay_runs' } });
    await eventually('the rest waits', async () => (await waiting(subscription)) > 2 || undefined);
    await instance.server.restart();
    await eventually('all are sent', async () => requestsTo(webhook).length >= 6 || undefined, 30_000);
    expect(new Set(requestsTo(webhook).map(({ headers }) => headers['webhook-id'])).size).toBe(6);
    expect([...new Set(instance.arrived(webhook).map((body) => (body as { n: number }).n))]).toEqual([
      0, 1, 2, 3, 4, 5,
    ]);
  }, 90_000);

  // docs/reference/rest-api.md#replay-cancel
  it('ends when it is cancelled, and with its subscription', async () => {
    const { source } = await emitted(20);
    const webhook = await instance.listen(source.id);
    const subscription = await idOf(source.id, webhook);
    await replay(subscription, { rate: '2' });
    await instance.receiver.until('the first', () => requestsTo(webhook).length > 0);
    await api.expect(204, 'DELETE', `/v1/subscriptions/${subscription}/replay`);
    await eventually('nothing waits', async () => (await waiting(subscription)) === 0 || undefined);
    const arrived = requestsTo(webhook).length;
    expect(arrived).toBeLessThan(15);
    const again = await api.call<ErrorBody>('DELETE', `/v1/subscriptions/${subscription}/replay`);
    expect([again.status, again.body.code]).toEqual([404, 'no_replay']);

    await replay(subscription, { rate: '1' });
    await api.expect(204, 'DELETE', '/v1/subscriptions', { query: { emitter_id: source.id, listener_id: webhook } });
    const gone = await api.call<ErrorBody>('GET', `/v1/subscriptions/${subscription}/replay`);
    expect([gone.status, gone.body.code]).toEqual([404, 'subscription_not_found']);
    expect(requestsTo(webhook).length).toBeLessThan(arrived + 5);
  });

  // docs/reference/rest-api.md#subscription-replay #replay-one
  it('is refused with what is wrong about it', async () => {
    const { source, ids } = await emitted(1);
    const webhook = await instance.listen(source.id);
    const subscription = await idOf(source.id, webhook);
    const glob = await idOf('dc_*', webhook);
    const cases: [string, Record<string, string>, number, string, RegExp][] = [
      [subscription, { start_id: 'x' }, 400, 'invalid_event_id', /^start_id must be an event id/],
      [subscription, { start_id: `${Number(ids[0]?.split('-')[0]) + 1}-0` }, 404, 'nothing_to_replay', /is kept/],
      [subscription, { rate: '101' }, 400, 'invalid_parameter', /rate.*100/],
      [subscription, { emitter_id: 'dc_0k2f9x8a1b3c5d7e9f' }, 400, 'invalid_emitter', /must be dc_.*or be left out/],
      [glob, {}, 400, 'invalid_emitter', /must name one source: this subscription is for dc_\*/],
      [glob, { emitter_id: 'dc_0k2f9x8a1b3c5d7e9f' }, 404, 'emitter_not_found', /there is no dc_0k2/],
      ['sub_0k2f9x8a1b3c5d7e9f', {}, 404, 'subscription_not_found', /no subscription sub_0k2/],
    ];
    for (const [id, query, status, code, text] of cases) {
      const reply = await replay(id, query);
      expect([reply.status, reply.body.code]).toEqual([status, code]);
      expect(reply.body.error).toMatch(text);
    }
    expect((await replay(glob, { emitter_id: source.id })).status).toBe(202);
    await instance.receiver.until('one', () => requestsTo(webhook).length === 1);
    await api.expect(204, 'DELETE', '/v1/subscriptions', { query: { emitter_id: 'dc_*', listener_id: webhook } });
  });
});
