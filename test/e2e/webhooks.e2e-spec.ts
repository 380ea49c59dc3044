import { afterEach, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Webhook } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { always, type Received } from '#test/harness/webhook-receiver.js';

const instance = useInstance();
const { api } = instance;
const post = (query: Record<string, string>) => api.call<Data<Webhook> & ErrorBody>('POST', '/v1/webhooks', { query });
const receivedBy = (webhookId: string): readonly Received[] =>
  instance.receiver.received.filter(({ headers }) => headers['x-pd-webhook-id'] === webhookId);

afterEach(() => instance.receiver.behave(always(200)));

describe('the webhook resource', () => {
  // docs/reference/rest-api.md#webhook-fields #webhook-create
  it('answers 200 with the record and, this once, the signing key', async () => {
    const { status, body } = await post({ url: instance.receiver.url, name: 'Mine', description: 'For a test' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^wh_/),
      user_id: expect.stringMatching(/^u_/),
      name: 'Mine',
      description: 'For a test',
      url: instance.receiver.url,
      active: true,
      signing_key: expect.stringMatching(/^whsec_/),
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect((await api.call('GET', '/v1/users/me/webhooks')).text).not.toContain(body.data.signing_key ?? '?');
    expect((await api.call('GET', `/v1/audit/${body.data.id}`)).text).not.toContain(body.data.signing_key ?? '?');
  });

  // docs/reference/rest-api.md#webhook-create
  it('has null for absent fields', async () => {
    expect((await post({ url: instance.receiver.url })).body.data).toMatchObject({ name: null, description: null });
  });

  // docs/reference/rest-api.md#webhook-url
  it.each(['example.com/hook', 'ftp://example.com', '//example.com', 'http://', 'javascript:alert(1)', ''])(
    'refuses the url "%s"',
    async (url) => {
      const reply = await post({ url });
      expect(reply.status).toBe(400);
      expect(reply.body.error).toMatch(/url/);
      if (url !== '') expect(reply.body.error).toContain(url);
    },
  );

  it('refuses a missing url by name', async () => {
    const reply = await api.call<ErrorBody>('POST', '/v1/webhooks');
    expect(reply).toMatchObject({ status: 400, body: { code: 'missing_parameter' } });
    expect(reply.body.error).toContain('url');
  });

  // docs/reference/rest-api.md#webhook-delete
  it('is deleted with 204 and its subscriptions; 404 when unknown', async () => {
    const source = await instance.deploy(relayCode());
    const id = await instance.listen(source.id);
    expect(await api.call('DELETE', `/v1/webhooks/${id}`)).toMatchObject({ status: 204, text: '' });
    expect(await api.call('DELETE', `/v1/webhooks/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'webhook_not_found' },
    });
    await eventually('its subscription is gone', async () => {
      const reply = await api.expect<Data<{ listener_id: string }[]>>(200, 'GET', '/v1/users/me/subscriptions');
      return reply.data.some(({ listener_id }) => listener_id === id) ? undefined : true;
    });
  });
});

describe('a delivery', () => {
  // docs/reference/rest-api.md#subscription-what-arrives
  it('is a POST of the raw emitted JSON, signed in both ways', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    const text = '{"n":1,"text":"é 🚰","list":[1,null]}';
    await instance.post(source, text, { 'content-type': 'application/json' });
    await instance.receiver.until('the delivery', () => receivedBy(webhook).length === 1);
    const [delivery] = receivedBy(webhook);
    expect(delivery).toMatchObject({
      method: 'POST',
      text,
      signed: true,
      emitterId: source.id,
      channel: '',
      attempt: 1,
      webhookId: expect.stringMatching(/.+/),
    });
    expect(delivery?.headers['content-type']).toMatch(/^application\/json/);
    expect(delivery?.headers['x-pd-timestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const [event] = await instance.history(source, 1);
    expect(delivery?.emitId).toBe(event?.metadata.emit_id);
  });

  it('is repeated under the same ids after a failure, with the number of the attempt', async () => {
    instance.receiver.behave((_n, { attempt }) => ({ status: attempt === 1 ? 503 : 200 }));
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    await instance.post(source, { n: 1 });
    await instance.receiver.until('the second attempt', () => receivedBy(webhook).length === 2, 45_000);
    const [first, second] = receivedBy(webhook);
    expect([first?.attempt, second?.attempt]).toEqual([1, 2]);
    expect(second).toMatchObject({
      webhookId: first?.webhookId,
      emitId: first?.emitId,
      text: first?.text,
      signed: true,
    });
  }, 60_000);

  it('that fails does not hold the next one back, nor another webhook', async () => {
    instance.receiver.behave((_n, { body }) => ({ status: (body as { fail?: boolean }).fail === true ? 500 : 200 }));
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    await instance.post(source, { fail: true });
    await instance.receiver.until('the failure', () => receivedBy(webhook).length === 1);
    await instance.post(source, { n: 2 });
    await instance.receiver.until('the next', () => instance.arrived(webhook).length === 1);
    expect(instance.arrived(webhook)).toEqual([{ n: 2 }]);
  });

  it('does not follow a redirect', async () => {
    const target = `${instance.receiver.url}/redirected`;
    instance.receiver.behave(() => ({ status: 302, headers: { location: target } }));
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    await instance.post(source, {});
    await instance.receiver.until('the redirect', () => receivedBy(webhook).length >= 1);
    await attempts(webhook, 1);
    expect(instance.receiver.received.map(({ path }) => path)).not.toContain('/hook/redirected');
  });

  it('of another webhook is not delayed by one that hangs', async () => {
    let letGo: () => void = () => undefined;
    const until = new Promise<void>((resolve) => (letGo = resolve));
    const source = await instance.deploy(relayCode());
    const hanging = await instance.listen(source.id);
    const healthy = await instance.listen(source.id);
    instance.receiver.behave((_n, { headers }) => (headers['x-pd-webhook-id'] === hanging ? { until } : {}));
    for (let n = 0; n < 20; n++) await instance.post(source, { n });
    await instance.receiver.until('the healthy one', () => instance.arrived(healthy).length === 20, 10_000);
    expect(instance.arrived(hanging)).toEqual([]);
    letGo();
  });

  it('is not retried after a final 4xx', async () => {
    instance.receiver.behave(always(400));
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    await instance.post(source, {});
    const [attempt] = await attempts(webhook, 1);
    expect(attempt).toMatchObject({ status: 400, attempt: 1 });
  });

  it('comes in order of the events, each once', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await instance.listen(source.id);
    for (let n = 0; n < 30; n++) await instance.post(source, { n });
    await instance.receiver.until('thirty', () => receivedBy(webhook).length >= 30);
    expect(new Set(receivedBy(webhook).map(({ webhookId }) => webhookId)).size).toBe(30);
    expect(receivedBy(webhook)).toHaveLength(30);
  });
});

/** `GET /webhooks/{id}/deliveries` (docs/reference/rest-api.md#deliveries-list). */
const attempts = (webhookId: string, count: number): Promise<readonly Record<string, unknown>[]> =>
  eventually(`${count} attempts of ${webhookId} on record`, async () => {
    const reply = await api.expect<Data<Record<string, unknown>[]>>(200, 'GET', `/v1/webhooks/${webhookId}/deliveries`);
    return reply.data.length >= count ? reply.data : undefined;
  });
