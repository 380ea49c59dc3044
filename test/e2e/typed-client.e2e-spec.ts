import createClient from 'openapi-fetch';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { type paths } from '#test/harness/openapi-types.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const CODE = componentCode({
  props: `http: '$.interface.http', factor: { type: 'integer', label: 'Factor' }`,
  members: 'run(event) { this.$emit({ product: event.body.n * this.factor }); },',
});

/** What a call answered with success; throws the error body otherwise. */
const ok = async <T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> => {
  const { data, error, response } = await call;
  if (error !== undefined || !response.ok) throw new Error(`${response.status}: ${JSON.stringify(error)}`);
  return data as T;
};

/** The client knows only docs/reference/openapi.json, so the compiler checks each field below against it. */
describe('a client generated from the OpenAPI document', () => {
  let client: ReturnType<typeof createClient<paths>>;
  beforeAll(() => {
    const { url, apiKey } = instance.server;
    client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${apiKey}` } });
  });

  it('saves a component, deploys it, delivers its events and deletes it all', async () => {
    const { data: me } = await ok(client.GET('/v1/users/me'));
    const workspace = me.orgs[0]?.id ?? '';
    expect(me.orgs[0]?.daily_invocations_quota).toBe(2_147_483_647);

    const { data: component } = await ok(client.POST('/v1/components', { body: { component_code: CODE } }));
    expect(component.configurable_props.map(({ name }) => name)).toEqual(['http', 'factor']);
    const configured_props = { factor: 7 };
    const { data: source } = await ok(
      client.POST('/v1/sources', { body: { component_id: component.id, name: 'Typed', configured_props } }),
    );
    expect(source).toMatchObject({ owner_id: workspace, active: true, name_slug: 'typed' });

    const query = { url: instance.receiver.url, max_attempts: 2 };
    const { data: webhook } = await ok(client.POST('/v1/webhooks', { params: { query } }));
    const { data: subscription } = await ok(
      client.POST('/v1/subscriptions', { params: { query: { emitter_id: source.id, listener_id: webhook.id } } }),
    );
    expect(subscription.event_name).toBe('');

    const path = { id: source.id };
    const { data: run } = await ok(
      client.POST('/v1/sources/{idOrSlug}/run', {
        params: { path: { idOrSlug: source.id } },
        body: { wait: true, event: { body: { n: 6 } } },
      }),
    );
    expect(run.id).toMatch(/^inv_/);
    const [event] = await eventually('the event', async () => {
      const { data } = await ok(client.GET('/v1/sources/{id}/event_summaries', { params: { path } }));
      return data.length > 0 ? data : undefined;
    });
    expect(event?.event).toEqual({ product: 42 });
    const delivery = await eventually('the delivery', async () => {
      const { data } = await ok(client.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id: webhook.id } } }));
      return data.find(({ outcome }) => outcome === 'success');
    });
    expect(delivery).toMatchObject({ event_id: event?.id, emitter_id: source.id, attempt: 1 });

    const changed = await ok(
      client.PUT('/v1/sources/{idOrSlug}', {
        params: { path: { idOrSlug: source.id }, header: { 'If-Match': `"${source.revision}"` } },
        body: { configured_props: { factor: 8 } },
      }),
    );
    expect(changed.data.revision).toBeGreaterThan(source.revision);
    const stale = await client.PUT('/v1/sources/{idOrSlug}', {
      params: { path: { idOrSlug: source.id }, header: { 'If-Match': `"${source.revision}"` } },
      body: { active: false },
    });
    expect([stale.response.status, stale.error?.code]).toEqual([412, 'precondition_failed']);

    await ok(client.DELETE('/v1/webhooks/{id}', { params: { path: { id: webhook.id } } }));
    await ok(client.DELETE('/v1/sources/{idOrSlug}', { params: { path: { idOrSlug: source.id } } }));
    const gone = await client.GET('/v1/sources/{idOrSlug}', { params: { path: { idOrSlug: source.id } } });
    expect(gone.error).toMatchObject({ code: 'source_not_found' });
  });

  it('repeats a POST under one Idempotency-Key without a second effect', async () => {
    const create = () =>
      client.POST('/v1/data_stores', {
        params: { header: { 'Idempotency-Key': 'typed-client-1' } },
        body: { name: 'typed' },
      });
    const [first, second] = [await ok(create()), await ok(create())];
    expect(second).toEqual(first);
  });
});
