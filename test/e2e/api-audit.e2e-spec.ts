import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;

interface AuditEntry {
  readonly type: string;
  readonly revision: number;
  readonly at: string;
  readonly actor: { readonly user_id: string; readonly api_key_id: string | null };
  readonly data: Readonly<Record<string, unknown>>;
}

const history = async (id: string): Promise<readonly AuditEntry[]> =>
  (await api.expect<Data<AuditEntry[]>>(200, 'GET', `/v1/audit/${id}`)).data;
const typesOf = async (id: string): Promise<readonly string[]> => (await history(id)).map(({ type }) => type);

describe('GET /v1/audit/{id}', () => {
  // docs/reference/rest-api.md#audit-list #audit-entry
  it('lists the changes of a source, with time and actor', async () => {
    const { data: user } = await api.expect<Data<{ id: string }>>(200, 'GET', '/v1/users/me');
    const source = await instance.deploy(relayCode('Audited'));
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { name: 'Renamed' } });
    await api.deleteSource(source.id);
    const events = await history(source.id);
    expect(events.map(({ type }) => type)).toEqual([
      'SourceDeploymentStarted',
      'SourceDeployed',
      'SourceUpdateStarted',
      'SourceUpdated',
      'SourceDeletionStarted',
      'SourceDeleted',
    ]);
    events.forEach((event, index) => {
      expect(event.revision).toBe(index);
      expect(Math.abs(Date.parse(event.at) - Date.now())).toBeLessThan(60_000);
      expect(event.actor).toEqual({ user_id: user.id, api_key_id: expect.stringMatching(/^key_/) });
    });
  });

  // docs/reference/rest-api.md#audit-list
  it('covers components, subscriptions and webhooks', async () => {
    const source = await instance.deploy(relayCode());
    const webhook = await api.createWebhook(instance.receiver.url);
    const subscription = await api.subscribe(source.id, webhook.id);
    await api.expect(204, 'DELETE', `/v1/webhooks/${webhook.id}`);
    expect(await typesOf(source.component_id)).toEqual(['ComponentSaved']);
    expect(await typesOf(webhook.id)).toEqual(['WebhookCreated', 'WebhookDeleted']);
    // It is deleted with the webhook, by a reactor to that deletion.
    await eventually('the subscription is deleted', async () =>
      (await typesOf(subscription.id)).length === 2 ? true : undefined,
    );
    expect(await typesOf(subscription.id)).toEqual(['SubscriptionCreated', 'SubscriptionDeleted']);
  });

  // docs/reference/rest-api.md#audit-at
  it('gives the resource as it was, by revision and by time', async () => {
    const source = await instance.deploy(relayCode('Then'));
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { name: 'Now' } });
    const events = await history(source.id);
    const deployed = events.find(({ type }) => type === 'SourceDeployed');
    for (const at of [String(deployed?.revision), deployed?.at ?? '']) {
      const reply = await api.expect<Data<{ name: string }>>(200, 'GET', `/v1/audit/${source.id}`, { query: { at } });
      expect(JSON.stringify(reply.data)).toContain('"name":"then"');
      expect(JSON.stringify(reply.data)).not.toContain('"name":"Now"');
    }
    const last = String(events.at(-1)?.revision);
    const reply = await api.expect<Data<unknown>>(200, 'GET', `/v1/audit/${source.id}`, { query: { at: last } });
    expect(JSON.stringify(reply.data)).toContain('"name":"Now"');
  });

  // docs/reference/rest-api.md#audit-at
  it('answers 404 on an unknown id, and 400 on an at that is neither revision nor time', async () => {
    for (const id of ['dc_doesnotexist', 'nonsense']) {
      expect((await api.call('GET', `/v1/audit/${id}`)).status).toBe(404);
    }
    const source = await instance.deploy(relayCode());
    const reply = await api.call<ErrorBody>('GET', `/v1/audit/${source.id}`, { query: { at: 'yesterday' } });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_at' } });
    expect(reply.body.error).toContain('yesterday');
  });
});
