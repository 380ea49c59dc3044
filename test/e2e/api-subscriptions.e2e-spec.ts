import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Source, type Subscription } from '#test/harness/api-client.js';
import { componentCode, emitterCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;
let emitter: Source;
let webhookId: string;

const all = async (): Promise<readonly Subscription[]> =>
  (await api.expect<Data<Subscription[]>>(200, 'GET', '/v1/users/me/subscriptions')).data;
const post = (query: Record<string, string>) =>
  api.call<Data<Subscription> & ErrorBody>('POST', '/v1/subscriptions', { query });
const remove = (query: Record<string, string>) => api.call<ErrorBody>('DELETE', '/v1/subscriptions', { query });

beforeAll(async () => {
  emitter = await instance.deploy(emitterCode());
  webhookId = (await api.createWebhook(instance.receiver.url)).id;
}, 30_000);

describe('the subscription resource', () => {
  // docs/reference/rest-api.md#subscription-fields #subscription-create
  it('answers 200 with id, emitter, listener and channel, "" for the default one', async () => {
    const { status, body } = await post({ emitter_id: emitter.id, listener_id: webhookId });
    expect(status).toBe(200);
    const id: unknown = expect.stringMatching(/^sub_/);
    expect(body).toEqual({
      data: { id, emitter_id: emitter.id, listener_id: webhookId, event_name: '', revision: 0 },
    });
  });

  // docs/reference/rest-api.md#subscription-repeat #idempotency
  it('gives the same record for the same triple, also when posted at once', async () => {
    const query = { emitter_id: emitter.id, listener_id: webhookId, event_name: 'twice' };
    const replies = await Promise.all([post(query), post(query), post(query)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1);
    expect((await all()).filter(({ event_name }) => event_name === 'twice')).toHaveLength(1);
  });

  // docs/reference/rest-api.md#subscription-delete #subscription-event-name
  it('is deleted by its exact triple with 204, where a missing name equals the empty one', async () => {
    const named = { emitter_id: emitter.id, listener_id: webhookId, event_name: 'gone' };
    await post(named);
    await post({ emitter_id: emitter.id, listener_id: webhookId });
    expect(await remove({ ...named, event_name: 'other' })).toMatchObject({
      status: 404,
      body: { code: 'subscription_not_found' },
    });
    expect(await remove(named)).toMatchObject({ status: 204, text: '' });
    expect((await remove(named)).status).toBe(404);
    expect((await remove({ emitter_id: emitter.id, listener_id: webhookId, event_name: '' })).status).toBe(204);
    const left = (await all())
      .filter(({ emitter_id }) => emitter_id === emitter.id)
      .map(({ event_name }) => event_name);
    expect(left).toEqual(['twice']);
  });

  it('may be made again after its deletion', async () => {
    const query = { emitter_id: emitter.id, listener_id: webhookId, event_name: 'again' };
    for (let n = 0; n < 2; n++) {
      expect((await post(query)).status).toBe(200);
      expect((await remove(query)).status).toBe(204);
    }
  });

  // docs/reference/rest-api.md#subscription-emitters #subscription-listeners
  it.each([
    ['no emitter', { listener_id: 'wh_x' }, 400, 'emitter_id'],
    ['no listener', { emitter_id: 'dc_x' }, 400, 'listener_id'],
    ['an emitter that is no id', { emitter_id: 'nonsense', listener_id: 'WEBHOOK' }, 400, 'nonsense'],
    ['an unknown emitter', { emitter_id: 'dc_doesnotexist', listener_id: 'WEBHOOK' }, 404, 'dc_doesnotexist'],
    ['an unknown listener', { emitter_id: 'EMITTER', listener_id: 'wh_doesnotexist' }, 404, 'wh_doesnotexist'],
    ['a listener that cannot listen', { emitter_id: 'EMITTER', listener_id: 'sub_x' }, 400, 'sub_x'],
  ])('refuses %s, naming it', async (_name, query, status, named) => {
    const before = (await all()).length;
    const real = Object.fromEntries(
      Object.entries(query).map(([key, value]) => [
        key,
        value === 'WEBHOOK' ? webhookId : value === 'EMITTER' ? emitter.id : value,
      ]),
    );
    const reply = await post(real);
    expect({ status: reply.status, error: reply.body.error }).toEqual({
      status,
      error: expect.stringContaining(named),
    });
    expect(await all()).toHaveLength(before);
  });
});

describe('routing', () => {
  // docs/reference/rest-api.md#subscription-channel-match
  it('gives a listener its channel and no other', async () => {
    const source = await instance.deploy(emitterCode());
    const onDefault = await instance.listen(source.id);
    const onNamed = await instance.listen(source.id, 'named');
    const onErrors = await instance.listen(source.id, '$errors');
    const onLogs = await instance.listen(source.id, '$logs');
    await instance.post(source, [['d'], ['n', { name: 'named' }], ['o', { name: 'other' }]]);
    await instance.post(source, [7]);
    await instance.receiver.until('one event for each listener', () =>
      [onDefault, onNamed, onErrors].every((id) => instance.arrived(id).length >= 1),
    );
    await instance.history(source, 1, '$errors');
    expect(instance.arrived(onDefault)).toEqual(['d']);
    expect(instance.arrived(onNamed)).toEqual(['n']);
    expect(instance.arrived(onErrors)).toEqual([expect.objectContaining({ error: expect.any(Object) })]);
    for (const line of instance.arrived(onLogs)) expect(line).toMatchObject({ k: expect.any(String) });
  });

  // docs/reference/rest-api.md#subscription-what-arrives
  it('hands a listening source the emitted object itself', async () => {
    const first = await instance.deploy(relayCode());
    const second = await instance.deploy(
      componentCode({ props: '', members: 'run(event) { this.$emit({ got: event }); },' }),
    );
    await api.subscribe(first.id, second.id);
    const end = await instance.listen(second.id);
    await instance.post(first, { n: 1, deep: { a: [null] } });
    expect(await instance.payloads(second, 1)).toEqual([{ got: { n: 1, deep: { a: [null] } } }]);
    await instance.receiver.until('the end of the chain', () => instance.arrived(end).length === 1);
  });

  // docs/reference/rest-api.md#subscription-loops
  it('stops a loop after 32 hops', async () => {
    const source = await instance.deploy(
      componentCode({ members: 'run(event) { this.$emit({ n: (event.n ?? event.body.n) + 1 }); },' }),
    );
    await api.subscribe(source.id, source.id);
    await instance.post(source, { n: 0 });
    // Written after all emits of the loop.
    const [error] = await instance.history(source, 1, '$errors');
    expect(JSON.stringify(error?.event)).toMatch(/32|hop/);
    const { data } = await api.summaries(source.id);
    expect(data.length).toBeGreaterThanOrEqual(32);
    expect(data.length).toBeLessThanOrEqual(33);
  });

  // docs/reference/rest-api.md#subscription-emitters
  it('covers sources deployed later by dc_*', async () => {
    const early = await instance.deploy(emitterCode());
    const webhook = await instance.listen('dc_*', 'star');
    const late = await instance.deploy(emitterCode());
    await instance.post(early, [['early', { name: 'star' }], ['not me']]);
    await instance.post(late, [['late', { name: 'star' }]]);
    await instance.receiver.until('both events', () => instance.arrived(webhook).length >= 2);
    expect([...instance.arrived(webhook)].sort()).toEqual(['early', 'late']);
  });

  // docs/reference/rest-api.md#subscription-emitters
  it("gives the workspace's errors to a listener of the workspace", async () => {
    const { data } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const webhook = await instance.listen(data.orgs[0]?.id ?? '');
    const source = await instance.deploy(
      componentCode({ members: `run() { this.$emit('fine'); throw new Error('for the owner'); },` }),
    );
    await instance.post(source, {});
    await instance.receiver.until('the error', () => instance.arrived(webhook).length >= 1);
    const bodies = JSON.stringify(instance.arrived(webhook));
    expect(bodies).toContain('for the owner');
    expect(bodies).not.toContain('"fine"');
  });

  it('delivers once to each of two listeners, and stops with the subscription', async () => {
    const source = await instance.deploy(relayCode());
    const [a, b] = [await instance.listen(source.id), await instance.listen(source.id)];
    await instance.post(source, { n: 1 });
    await instance.receiver.until('both', () => instance.arrived(a).length === 1 && instance.arrived(b).length === 1);
    expect((await remove({ emitter_id: source.id, listener_id: a })).status).toBe(204);
    await instance.post(source, { n: 2 });
    await instance.receiver.until('the second at b', () => instance.arrived(b).length === 2);
    expect(instance.arrived(a)).toEqual([{ n: 1 }]);
  });
});
