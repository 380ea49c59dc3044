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
  },
});
const { api } = instance;
/** Of one user, in force. */
const KEYS = 100;

/** Creates resources until one is refused. Returns the number created and the refusal. */
const untilRefused = async (make: () => Promise<{ status: number; body: unknown }>, limit = LIMIT) => {
  for (let made = 0; made <= limit; made++) {
    const { status, body } = await make();
    if (status !== 200) return { made, status, ...(body as { code: string; details: object }) };
  }
  return { made: limit + 1, status: 200 };
};

describe('one user alone', () => {
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
    const keys = await untilRefused(() => api.call('POST', '/v1/api_keys', { body: {} }), KEYS);
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
      keys: { made: KEYS - 1, status: 409, code: 'limit_reached', details: { limit: KEYS, actual: KEYS } },
    });
    // Posting an existing triple returns it, and a deletion makes room.
    expect((await subscribe('c1')).status).toBe(200);
    await api.deleteSource(source.id);
    expect((await api.call('POST', '/v1/sources', { body: { component_id: id } })).status).toBe(200);
  });
});
