import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Subscription } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;

type Filtered = Subscription & { readonly filter?: object };
const subscribe = (query: Record<string, string>, body?: object) =>
  api.call<Data<Filtered> & ErrorBody>('POST', '/v1/subscriptions', { query, ...(body === undefined ? {} : { body }) });

// docs/reference/rest-api.md#subscription-filter
describe('the filter of a subscription', () => {
  // docs/reference/rest-api.md#subscription-filter
  it('limits what a webhook and a source get, and changes or ends with another POST', async () => {
    const source = await instance.deploy(relayCode());
    const listening = await instance.deploy(componentCode({ members: 'run(event) { this.$emit(event); },' }));
    const webhook = await instance.listen(source.id);
    const query = { emitter_id: source.id, listener_id: webhook };
    const filter = { kind: 'order', total: { gte: 100 } };
    const made = await subscribe(query, { filter });
    expect(made.body.data).toMatchObject({ listener_id: webhook, filter });
    await subscribe({ emitter_id: source.id, listener_id: listening.id, filter: JSON.stringify({ kind: 'refund' }) });
    const events = [
      { kind: 'order', total: 99 },
      { kind: 'order', total: 100 },
      { kind: 'refund', total: 500 },
    ];
    for (const event of events) await instance.post(source, event);
    await instance.receiver.until('the one', () => instance.arrived(webhook).length === 1);
    expect(await instance.payloads(listening, 1)).toEqual([events[2]]);

    // The same triple without a filter leaves it, another one replaces it, null ends it.
    expect((await subscribe(query)).body.data.filter).toEqual(filter);
    const lists = await api.expect<Data<Filtered[]>>(200, 'GET', '/v1/users/me/subscriptions');
    expect(lists.data.find(({ id }) => id === made.body.data.id)?.filter).toEqual(filter);
    const ended = await subscribe(query, { filter: null });
    expect(ended.body.data).toEqual({ ...made.body.data, filter: undefined, revision: expect.any(Number) });
    await instance.post(source, { kind: 'anything' });
    await instance.receiver.until('all', () => instance.arrived(webhook).length === 2);
    expect(instance.arrived(webhook)).toEqual([events[1], { kind: 'anything' }]);
  });

  it('holds after a restart', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    await subscribe({ emitter_id: source.id, listener_id: webhook }, { filter: { n: { gt: 1 } } });
    await instance.server.restart();
    for (const n of [1, 2, 3]) await instance.post(source, { n });
    await instance.receiver.until('both', () => instance.arrived(webhook).length === 2);
    expect(instance.arrived(webhook)).toEqual([{ n: 2 }, { n: 3 }]);
  }, 90_000);

  // docs/reference/rest-api.md#subscription-filter
  it('is refused with the place of its fault', async () => {
    const source = await instance.deploy(relayCode());
    const query = { emitter_id: source.id, listener_id: source.id };
    const reply = await subscribe(query, { filter: { total: { above: 5 } } });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'invalid_filter', details: { field: 'filter.total.above' } },
    });
  });
});
