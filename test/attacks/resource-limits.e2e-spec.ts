import { describe, expect, it } from '@jest/globals';
import { type Component, type Data } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const LIMIT = 3;
const instance = useInstance({
  env: {
    SLUICE_MAX_SOURCES: String(LIMIT),
    SLUICE_MAX_WEBHOOKS: String(LIMIT),
    SLUICE_MAX_SUBSCRIPTIONS: String(LIMIT),
    SLUICE_MAX_API_KEYS: String(LIMIT),
    SLUICE_WORKSPACE_CODE_MB: '1',
  },
});
const { api } = instance;

/** Creates resources until one is refused. Returns the number created and the refusal. */
const untilRefused = async (make: () => Promise<{ status: number; body: unknown }>) => {
  for (let made = 0; made <= LIMIT; made++) {
    const { status, body } = await make();
    if (status !== 200) return { made, status, ...(body as { code: string; details: object }) };
  }
  return { made: LIMIT + 1, status: 200 };
};

describe('one user alone', () => {
  it('saves code up to the limit, which the refusal names', async () => {
    // Two of these are more than 1 MB.
    const large = (): string => `${relayCode()}// ${'x'.repeat(600 * 1024)}`;
    const save = (component_code: string) => api.call('POST', '/v1/components', { body: { component_code } });
    const first = large();
    expect((await save(first)).status).toBe(200);
    expect(await untilRefused(() => save(large()))).toMatchObject({
      made: 0,
      status: 409,
      code: 'limit_reached',
      details: { limit: 1024 * 1024, setting: 'SLUICE_WORKSPACE_CODE_MB' },
    });
    // Existing code and small code still fit.
    expect([(await save(first)).status, (await save(relayCode())).status]).toEqual([200, 200]);
  });

  // docs/reference/rest-api.md#source-count #api-key-create
  it('makes sources, webhooks, subscriptions and keys up to the limits, which the refusals name', async () => {
    const { id } = (
      await api.expect<Data<Component>>(200, 'POST', '/v1/components', { body: { component_code: relayCode() } })
    ).data;
    const source = await api.createSource({ component_id: id });
    const emitter_id = source.id;
    const sources = await untilRefused(() => api.call('POST', '/v1/sources', { body: { component_id: id } }));
    const url = instance.receiver.url;
    const { id: listener_id } = await api.createWebhook(url);
    const webhooks = await untilRefused(() => api.call('POST', '/v1/webhooks', { query: { url } }));
    let n = 0;
    const subscribe = (event_name: string) =>
      api.call('POST', '/v1/subscriptions', { query: { emitter_id, listener_id, event_name } });
    const subscriptions = await untilRefused(() => subscribe(`c${++n}`));
    // One key is the one that the owner received.
    const keys = await untilRefused(() => api.call('POST', '/v1/api_keys', { body: {} }));
    const refused = (made: number, setting: string) => ({
      made,
      status: 409,
      code: 'limit_reached',
      details: { limit: LIMIT, actual: LIMIT, setting },
    });
    expect({ sources, webhooks, subscriptions, keys }).toMatchObject({
      sources: refused(LIMIT - 1, 'SLUICE_MAX_SOURCES'),
      webhooks: refused(LIMIT - 1, 'SLUICE_MAX_WEBHOOKS'),
      subscriptions: refused(LIMIT, 'SLUICE_MAX_SUBSCRIPTIONS'),
      keys: refused(LIMIT - 1, 'SLUICE_MAX_API_KEYS'),
    });
    // Posting an existing triple returns it, and a deletion makes room.
    expect((await subscribe('c1')).status).toBe(200);
    await api.deleteSource(source.id);
    expect((await api.call('POST', '/v1/sources', { body: { component_id: id } })).status).toBe(200);
  });
});
