import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';

const instance = useInstance();
const { api } = instance;

interface Entry {
  readonly id: string;
  readonly resource_id: string;
  readonly kind: string;
  readonly type: string;
  readonly revision: number;
  readonly at: string;
  readonly actor: { readonly user_id: string; readonly api_key_id: string | null };
  readonly request_id: string;
  readonly changes: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[] | null;
}

let workspace: string;
let source: Source;
let other: SecondWorkspace;
const SECRET = 'a very secret text';

beforeAll(async () => {
  other = await addWorkspace(instance, 'other');
  workspace = (await api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/workspaces')).data[0]?.id ?? '';
  const code = componentCode({
    props: `token: { type: 'string', secret: true }, http: '$.interface.http'`,
    members: 'run() {},',
  });
  source = await instance.deploy(code, { token: SECRET }, 'Audited');
  const headers = { 'x-request-id': 'the-rename' };
  await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { name: 'Renamed' }, headers });
  await instance.listen(source.id);
}, 400_000);
afterAll(() => other.api.close());

const list = (query: Record<string, string> = {}, of = workspace) =>
  api.expect<Paged<Entry>>(200, 'GET', `/v1/workspaces/${of}/audit`, { query: { limit: '100', ...query } });

// docs/reference/rest-api.md#workspace-audit
describe("a workspace's audit log", () => {
  // docs/reference/rest-api.md#workspace-audit #workspace-audit-entry
  it('shows every event of its resources, newest first, with actor, request and changes', async () => {
    const { data, page_info } = await list();
    expect(page_info.total_count).toBe(data.length);
    expect(data.map(({ id }) => id)).toEqual([...data.map(({ id }) => id)].sort().reverse());
    const kinds = new Set(data.map(({ kind }) => kind));
    for (const kind of ['workspace', 'apikey', 'component', 'source', 'subscription', 'webhook'])
      expect(kinds).toContain(kind);
    const renamed = data.find(({ request_id }) => request_id === 'the-rename');
    expect(renamed).toMatchObject({
      resource_id: source.id,
      kind: 'source',
      actor: { api_key_id: expect.stringMatching(/^key_/) },
    });
    const rename = data.filter(({ request_id }) => request_id === 'the-rename').flatMap(({ changes }) => changes ?? []);
    expect(rename).toContainEqual(expect.objectContaining({ before: 'Audited', after: 'Renamed' }));
  });

  it('says that a subscription got another filter, and which', async () => {
    const listener = await instance.deploy(componentCode({ members: 'run() {},' }));
    const subscribe = (filter: object | null) =>
      api.expect(200, 'POST', '/v1/subscriptions', {
        query: { emitter_id: source.id, listener_id: listener.id },
        body: { filter },
      });
    await subscribe({ n: { gt: 1 } });
    await subscribe(null);
    const { data } = await list({ type: 'SubscriptionFilterChanged' });
    expect(data.map(({ changes }) => changes)).toEqual([[{ path: 'filter', before: { n: { gt: 1 } }, after: null }]]);
  });

  // docs/reference/rest-api.md#workspace-audit-entry
  it('holds no secret', async () => {
    const { text } = await api.call('GET', `/v1/workspaces/${workspace}/audit`, { query: { limit: '100' } });
    const { data: keys } = await api.expect<Data<{ key: string }>>(200, 'POST', '/v1/api_keys', { body: {} });
    const later = await api.call('GET', `/v1/workspaces/${workspace}/audit`);
    for (const secret of [SECRET, instance.server.apiKey, keys.key, 'whsec_'])
      expect(text + later.text).not.toContain(secret);
    expect(later.text).not.toMatch(/[0-9a-f]{64}"?,"issuedAt/);
  });

  // docs/reference/rest-api.md#workspace-audit
  it.each<[name: 'resource_id' | 'kind' | 'type' | 'actor', valueOf: () => string]>([
    ['resource_id', () => source.id],
    ['kind', () => 'source'],
    ['type', () => 'SourceDeployed'],
    ['actor', () => 'system'],
  ])('is filtered by %s', async (name, valueOf) => {
    const value = valueOf();
    const all = (await list()).data;
    const matches = ({ resource_id, kind, type, actor }: Entry): boolean =>
      ({ resource_id, kind, type, actor: actor.user_id })[name] === value;
    const { data, page_info } = await list({ [name]: value });
    expect(data.map(({ id }) => id)).toEqual(all.filter(matches).map(({ id }) => id));
    expect(page_info.total_count).toBe(data.length);
  });

  // docs/reference/rest-api.md#workspace-audit-times
  it('keeps to a time, whose ends are included, in the list and the file', async () => {
    const all = (await list()).data;
    const renamed = all.find(({ request_id }) => request_id === 'the-rename');
    const at = renamed?.at ?? '';
    const ms = Date.parse(at);
    const idsOf = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);
    const timeOf = (entry: Entry): number => Date.parse(entry.at);
    const later = all.filter((entry) => timeOf(entry) >= ms);
    const earlier = all.filter((entry) => timeOf(entry) <= ms);
    expect(later.length).toBeLessThan(all.length);
    expect(earlier.length).toBeLessThan(all.length);
    for (const since of [at, String(ms)]) expect(idsOf((await list({ since })).data)).toEqual(idsOf(later));
    for (const until of [at, String(ms)]) {
      const { data, page_info } = await list({ until });
      expect(idsOf(data)).toEqual(idsOf(earlier));
      expect(page_info.total_count).toBe(earlier.length);
    }
    const moment = await list({ since: at, until: at, kind: 'source' });
    expect(idsOf(moment.data)).toEqual(idsOf(later.filter((entry) => timeOf(entry) === ms && entry.kind === 'source')));
    expect((await list({ until: at.slice(0, 10), limit: '1' })).data).toHaveLength(1);
    expect((await list({ since: '2099-01-01' })).page_info.total_count).toBe(0);
    expect((await list({ until: '0001-01-01' })).page_info.total_count).toBe(0);
    expect((await list({ since: '0001-01-01' })).data).toHaveLength(all.length);
    const file = await api.call('GET', `/v1/workspaces/${workspace}/audit/export`, { query: { since: at } });
    const lines = file.text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Entry).id)).toEqual(idsOf(later));
  });

  // docs/reference/rest-api.md#workspace-audit-times
  it.each([
    [
      'since',
      'since=yesterday',
      /parameter since must be a time in epoch seconds or milliseconds, or .*; got yesterday/,
    ],
    ['until', 'until=5', /parameter until must be a time .*; got 5/],
    ['since', 'since=2026-01-01&since=2026-01-02', /parameter since must be a time/],
    ['since', 'since=2026-01-02&until=2026-01-01', /since must not be after until; got 2026-01-02T00:00:00.000Z/],
  ])('refuses a %s that is none, in the list and the file: %s', async (field, query, message) => {
    for (const path of ['audit', 'audit/export']) {
      const reply = await api.call('GET', `/v1/workspaces/${workspace}/${path}?${query}`);
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_parameter', details: { field } } });
      expect(JSON.stringify(reply.body)).toMatch(message);
    }
  });

  // docs/reference/rest-api.md#workspace-audit
  it('comes in pages, and whole as lines of JSON', async () => {
    const all = (await list()).data;
    const paged: Entry[] = [];
    for (let after: string | null = null; ;) {
      const { data, page_info }: Paged<Entry> = await list({ limit: '3', ...(after === null ? {} : { after }) });
      paged.push(...data);
      after = page_info.end_cursor;
      if (data.length < 3) break;
    }
    expect(paged).toEqual(all);
    const reply = await api.call('GET', `/v1/workspaces/${workspace}/audit/export`, { query: { kind: 'source' } });
    expect(reply.headers['content-type']).toMatch(/^application\/x-ndjson/);
    const lines = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);
    expect(lines).toEqual(all.filter(({ kind }) => kind === 'source'));
  });

  it('is for members only, and shows nothing of another workspace', async () => {
    for (const path of ['audit', 'audit/export'])
      expect((await other.api.call('GET', `/v1/workspaces/${workspace}/${path}`)).status).toBe(403);
    const theirs = await other.api.expect<Paged<Entry>>(200, 'GET', `/v1/workspaces/${other.workspaceId}/audit`);
    expect(JSON.stringify(theirs)).not.toContain(source.id);
  });

  it('refuses a filter that is no text', async () => {
    const reply = await api.call('GET', `/v1/workspaces/${workspace}/audit?kind=a&kind=b`);
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_parameter', details: { field: 'kind' } } });
  });
});
