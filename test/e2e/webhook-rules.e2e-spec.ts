import { afterEach, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type Webhook } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';
import { always } from '#test/harness/webhook-receiver.js';

const instance = useInstance();
const { api } = instance;

interface Attempt {
  readonly id: string;
  readonly outcome: string;
  readonly attempt: number;
  readonly error: string | null;
  readonly ts: number;
}
const attempts = (webhookId: string, count: number): Promise<readonly Attempt[]> =>
  eventually(`${count} attempts of ${webhookId} on record`, async () => {
    const { data } = await api.expect<Data<Attempt[]>>(200, 'GET', `/v1/webhooks/${webhookId}/deliveries`);
    return data.length >= count ? data : undefined;
  });
const rules = async (id: string, given: object): Promise<Webhook> =>
  (await api.expect<Data<Webhook>>(200, 'PUT', `/v1/webhooks/${id}`, { body: given })).data;
const listening = async (): Promise<{ source: Awaited<ReturnType<typeof instance.deploy>>; id: string }> => {
  const source = await instance.deploy(relayCode());
  return { source, id: await instance.listen(source.id) };
};

afterEach(() => instance.receiver.behave(always(200)));

// docs/reference/rest-api.md#webhook-rules
describe("a webhook's own rules", () => {
  // docs/reference/rest-api.md#webhook-rules
  it('are given when it is made, in the query or the body, and shown', async () => {
    const query = { url: instance.receiver.url, timeout_s: '30', max_attempts: '1', ordered: 'true' };
    const { data } = await api.expect<Data<Webhook>>(200, 'POST', '/v1/webhooks', { query });
    expect(data).toMatchObject({ timeout_s: 30, max_attempts: 1, ordered: true });
    const body = { url: instance.receiver.url, timeout_s: 1 };
    const other = await api.expect<Data<Webhook>>(200, 'POST', '/v1/webhooks', { body });
    expect(other.data).toMatchObject({ timeout_s: 1, max_attempts: null, ordered: false });
  });

  // docs/reference/rest-api.md#webhook-rules
  it('change one by one, and null returns to the settings', async () => {
    const { id } = await listening();
    expect(await rules(id, { max_attempts: 3 })).toMatchObject({ timeout_s: null, max_attempts: 3, ordered: false });
    expect(await rules(id, { ordered: true })).toMatchObject({ max_attempts: 3, ordered: true });
    expect(await rules(id, { max_attempts: null, ordered: null })).toMatchObject({
      max_attempts: null,
      ordered: false,
    });
    const shown = await api.expect<Data<Webhook>>(200, 'GET', `/v1/webhooks/${id}`);
    expect(shown.data).toMatchObject({ timeout_s: null, max_attempts: null, ordered: false });
  });

  // docs/reference/rest-api.md#webhook-rules
  it.each([
    ['timeout_s', 0],
    ['timeout_s', 31],
    ['timeout_s', 'soon'],
    ['max_attempts', 11],
    ['max_attempts', 1.5],
    ['ordered', 'perhaps'],
  ])('refuse %s: %j by name', async (field, value) => {
    const { status, body } = await api.call<ErrorBody>('POST', '/v1/webhooks', {
      body: { url: instance.receiver.url, [field]: value },
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_parameter', details: { field } });
  });

  it('end a delivery after max_attempts', async () => {
    instance.receiver.behave(always(503));
    const { source, id } = await listening();
    await rules(id, { max_attempts: 1 });
    await instance.post(source, {});
    const [only] = await attempts(id, 1);
    expect(only).toMatchObject({ outcome: 'final', error: 'status 503, attempt 1 was the last' });
  });

  it('let an endpoint answer later than the setting allows, and no later than its own time', async () => {
    instance.receiver.behave(() => ({ delayMs: 2_000 }));
    const { source, id } = await listening();
    await rules(id, { timeout_s: 1, max_attempts: 1 });
    await instance.post(source, {});
    expect((await attempts(id, 1))[0]).toMatchObject({ outcome: 'final', error: expect.stringMatching(/^TIMEOUT/) });
    await rules(id, { timeout_s: 20 });
    await instance.post(source, {});
    expect((await attempts(id, 2))[0]).toMatchObject({ outcome: 'success' });
  });

  it('hold later events back while an earlier one waits for its next attempt', async () => {
    let failures = 1;
    instance.receiver.behave(() => ({ status: failures-- > 0 ? 503 : 200 }));
    const { source, id } = await listening();
    await rules(id, { ordered: true });
    for (const n of [1, 2, 3]) await instance.post(source, { n });
    await instance.receiver.until('all three', () => instance.arrived(id).length === 3, 45_000);
    expect(instance.arrived(id)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  }, 60_000);
});

// docs/reference/rest-api.md#redeliver-many
describe('redelivery of many', () => {
  const redeliver = (id: string, query: Record<string, string> = {}) =>
    api.expect<Data<{ queued: string[]; gone: string[] }>>(200, 'POST', `/v1/webhooks/${id}/deliveries/redeliver`, {
      query,
    });

  // docs/reference/rest-api.md#redeliver-many
  it('sends those that failed for good again, oldest first, and leaves the others', async () => {
    instance.receiver.behave((_n, { body }) => ({ status: (body as { fail?: boolean }).fail === true ? 404 : 200 }));
    const { source, id } = await listening();
    await rules(id, { ordered: true });
    await instance.post(source, { n: 1, fail: true });
    await instance.post(source, { n: 2 });
    await instance.post(source, { n: 3, fail: true });
    const failed = (await attempts(id, 3)).filter(({ outcome }) => outcome === 'final');
    instance.receiver.behave(always(200));
    const { data } = await redeliver(id);
    expect(data).toEqual({ queued: failed.map(({ id: delivery }) => delivery).reverse(), gone: [] });
    await instance.receiver.until('both', () => instance.arrived(id).length === 3);
    expect(instance.arrived(id)).toEqual([{ n: 2 }, { n: 1, fail: true }, { n: 3, fail: true }]);
    await attempts(id, 5);
    expect((await redeliver(id)).data).toEqual({ queued: [], gone: [] });
    expect((await redeliver(id, { outcome: 'success' })).data.queued).toHaveLength(3);
  });

  // docs/reference/rest-api.md#redeliver-many
  it('keeps to the given times, and names deliveries whose event is gone', async () => {
    instance.receiver.behave(always(404));
    const { source, id } = await listening();
    await instance.post(source, { n: 1 });
    const [{ ts } = { ts: 0 }] = await attempts(id, 1);
    expect((await redeliver(id, { until: String(ts - 1) })).data.queued).toEqual([]);
    expect((await redeliver(id, { since: String(ts + 1) })).data.queued).toEqual([]);
    await api.expect(202, 'DELETE', `/v1/sources/${source.id}/events`);
    const { data } = await redeliver(id, { since: String(ts), until: String(ts) });
    expect(data).toEqual({ queued: [], gone: [expect.stringMatching(/^dlv_/)] });
  });

  it('refuses an unknown outcome and an unknown webhook', async () => {
    const { id } = await listening();
    const path = `/v1/webhooks/${id}/deliveries/redeliver`;
    const wrong = await api.call<ErrorBody>('POST', path, { query: { outcome: 'bad' } });
    expect(wrong).toMatchObject({ status: 400, body: { details: { field: 'outcome' } } });
    const none = await api.call('POST', '/v1/webhooks/wh_none/deliveries/redeliver');
    expect(none).toMatchObject({ status: 404, body: { code: 'webhook_not_found' } });
  });
});
