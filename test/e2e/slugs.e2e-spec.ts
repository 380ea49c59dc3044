import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type EventSummary, type Paged, type Source } from '#test/harness/api-client.js';
import { type ApiDocument } from '#test/harness/api-contract.js';
import { relayCode } from '#test/harness/component-code.js';
import { EventSource } from '#test/harness/event-source.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api, server } = instance;

// docs/reference/rest-api.md#source-id-or-slug
describe('every route below a source', () => {
  let source: Source;
  beforeAll(async () => {
    source = await instance.deploy(relayCode(), {}, 'Shop Orders');
    await instance.post(source, { n: 1 });
    await instance.history(source, 1);
  }, 60_000);

  it('takes the slug where it takes the id', async () => {
    // A source of its own, because some routes run or change it, and end after they have answered.
    await instance.deploy(relayCode(), {}, 'Shop Items');
    const { paths } = await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json');
    const below = Object.entries(paths).flatMap(([path, methods]) =>
      /^\/v1\/sources\/\{\w+\}\/./.test(path) ? Object.keys(methods).map((method) => [method, path] as const) : [],
    );
    expect(below.length).toBeGreaterThanOrEqual(8);
    const answers = await Promise.all(
      below
        .filter(([, path]) => !path.endsWith('/sse'))
        .map(async ([method, path]) => {
          const at = (id: string) =>
            api.call<ErrorBody>(method.toUpperCase(), path.replace(/\{\w+\}/, id), { body: {} });
          const reply = await at('shop-items');
          const unknown = await at('no-such-shop');
          return { method, path, code: reply.body.code, unknown: unknown.body.code };
        }),
    );
    // Routes that change something lack their parameters here, so their error shows that they found the source. So does the
    // error of a route below it that finds no event or run.
    const found = [
      undefined,
      'missing_parameter',
      'no_sample',
      'invalid_parameter',
      'email_not_configured',
      'event_not_found',
      'run_not_found',
    ];
    for (const { code, ...route } of answers) {
      expect(found).toContain(code);
      expect(route).toMatchObject({ unknown: 'source_not_found' });
    }
  });

  it('means the same source by both', async () => {
    const lists = ['event_summaries', 'events', '$errors/event_summaries', '$logs/event_summaries'];
    for (const list of lists) {
      const [bySlug, byId] = await Promise.all(
        ['shop-orders', source.id].map((id) =>
          api.expect<Paged<EventSummary>>(200, 'GET', `/v1/sources/${id}/${list}`, { query: { expand: 'event' } }),
        ),
      );
      expect(bySlug).toEqual(byId);
    }
    const { data } = await api.expect<Data<{ source_id: string }>>(200, 'GET', '/v1/sources/shop-orders/error_emails');
    expect(data.source_id).toBe(source.id);
  });

  it.each(['/v1/sources/shop-orders/sse?envelope=1', '/sources/shop-orders/sse', '/sse/dc/shop-orders/emits'])(
    'streams by slug at %s',
    async (path) => {
      const stream = await EventSource.open(`${server.url}${path}`, server.apiKey);
      await instance.post(source, { by: 'slug' });
      const [event] = await stream.until(1);
      stream.close();
      expect(event).toMatchObject({ event: { by: 'slug' }, metadata: { emitter_id: source.id } });
    },
  );

  it('follows a new name, and is free for another source after a deletion', async () => {
    const first = await instance.deploy(relayCode(), {}, 'Renamed');
    await api.expect(200, 'PUT', `/v1/sources/${first.id}`, { body: { name: 'Renamed later' } });
    expect((await api.call('GET', '/v1/sources/renamed/events')).status).toBe(404);
    await instance.post(first, { n: 1 });
    await instance.history(first, 1);
    expect(await api.expect(200, 'GET', '/v1/sources/renamed-later/events')).toMatchObject({ data: [{ e: { n: 1 } }] });
    await api.expect(202, 'DELETE', '/v1/sources/renamed-later/events');
    expect(await api.expect(200, 'GET', `/v1/sources/${first.id}/events`)).toMatchObject({ data: [] });
    await api.deleteSource(first.id);
    expect((await api.call('GET', '/v1/sources/renamed-later/events')).status).toBe(404);
    const second = await instance.deploy(relayCode(), {}, 'Renamed later');
    const { data } = await api.expect<Data<{ source_id: string }>>(
      200,
      'GET',
      '/v1/sources/renamed-later/error_emails',
    );
    expect(data.source_id).toBe(second.id);
  });
});

// docs/reference/rest-api.md#orgs-lists
describe('lists of a workspace', () => {
  it('exist below orgs as below workspaces, with the same answers', async () => {
    const { data: me } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const workspace = me.orgs[0]?.id ?? '';
    const { paths } = await api.expect<ApiDocument>(200, 'GET', '/v1/openapi.json');
    const lists = Object.keys(paths).filter(
      (path) => path.startsWith('/v1/workspaces/{') && !path.endsWith('/sse') && paths[path]?.['get'],
    );
    expect(lists.length).toBeGreaterThanOrEqual(8);
    for (const list of lists) {
      const org = list.replace('/workspaces/', '/orgs/');
      expect(Object.keys(paths)).toContain(org);
      const [there, here] = await Promise.all(
        [list, org].map((path) => api.call('GET', path.replace(/\{\w+\}/, workspace))),
      );
      expect({ org, status: here?.status, text: here?.text }).toEqual({ org, status: 200, text: there?.text });
      const foreign = await api.call('GET', org.replace(/\{\w+\}/, 'o_none'));
      expect({ org, status: foreign.status }).toEqual({ org, status: 404 });
    }
  });
});
