import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Dispatcher } from 'undici';
import { ApiClient, type Data, type ErrorBody, type Reply } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { eventually } from '#test/harness/wait.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';

/**
 * Every route of the OpenAPI document, requested by every kind of caller. The table is
 * docs/reference/api-authorization.md, which `SLUICE_TEST_WRITE_TEXTS=1` writes. A new route fails until the page has
 * its line.
 */
const PAGE = join(ROOT, 'docs/reference/api-authorization.md');
const writes = process.env.SLUICE_TEST_WRITE_TEXTS === '1';
// Wrong keys are counted by address, so each comes from another one.
const instance = useInstance({ env: { SLUICE_TRUSTED_PROXIES: '127.0.0.1' } });
let addresses = 0;
const nextAddress = (): string => `198.51.100.${++addresses}`;
const { api } = instance;

/** Routes that only read, although their method is that of a change. */
const READS_BY_POST: readonly string[] = ['/mcp', '/v1/workflows/validate'];

/** The one route that a key for tools only opens. */
const TOOLS = '/mcp';

const ASKERS = [
  'no key',
  'wrong key',
  'tools key',
  'read-only key',
  'read_only',
  'member',
  'owner',
  'other workspace',
] as const;
type Asker = (typeof ASKERS)[number];

interface Route {
  readonly method: Dispatcher.HttpMethod;
  readonly template: string;
  readonly isOpen: boolean;
}

let reader: SecondWorkspace;
let member: SecondWorkspace;
let stranger: SecondWorkspace;
let readKey: ApiClient;
let toolsKey: ApiClient;
let workspace: string;
let sourceId: string;
let routes: readonly Route[];
const rows = new Map<string, string>();

const clientWith = (apiKey: string): ApiClient => {
  const target = {
    get url() {
      return instance.server.url;
    },
    apiKey,
  };
  return new ApiClient(target);
};
const upper = (method: string): Dispatcher.HttpMethod => method.toUpperCase();
/** Several processes read a new user at their own pace. */
const idOf = (client: ApiClient): Promise<string> =>
  eventually('the new user', async () => {
    const reply = await client.call<Data<{ id: string }>>('GET', '/v1/users/me');
    return reply.status === 200 ? reply.body.data.id : undefined;
  });

beforeAll(async () => {
  reader = await addWorkspace(instance, 'reader');
  member = await addWorkspace(instance, 'member');
  stranger = await addWorkspace(instance, 'stranger');
  workspace = (await api.expect<Data<{ id: string }[]>>(200, 'GET', '/v1/users/me/workspaces')).data[0]?.id ?? '';
  for (const [user, role] of [
    [reader, 'read_only'],
    [member, 'member'],
  ] as const) {
    const body = { user_id: await idOf(user.api), role };
    await api.expect(200, 'POST', `/v1/workspaces/${workspace}/members`, { body });
  }
  const key = await api.expect<Data<{ key: string }>>(200, 'POST', '/v1/api_keys', { body: { read_only: true } });
  readKey = clientWith(key.data.key);
  const forTools = { name: 'agent', tools: ['send_mail'] };
  toolsKey = clientWith((await api.expect<typeof key>(200, 'POST', '/v1/api_keys', { body: forTools })).data.key);
  sourceId = (await instance.deploy(relayCode())).id;
  interface Description {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly unknown[] }>>>>;
  }
  const { paths } = await api.expect<Description>(200, 'GET', '/v1/openapi.json');
  routes = Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).map(([method, { security }]) => ({
      method: upper(method),
      template,
      isOpen: security?.length === 0,
    })),
  );
}, 240_000);
afterAll(() => Promise.all([readKey, toolsKey, reader.api, member.api, stranger.api].map((client) => client.close())));

/** Workspaces and the source to read exist. Resources of a change do not, so that nothing is changed. */
const pathOf = ({ method, template }: Route): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (/^\/v1\/(workspaces|orgs)\//.test(template) && name !== 'userId') return workspace;
    if (method === 'GET' && /^\/v1\/(sources|audit)\//.test(template)) return sourceId;
    return `${name === 'userId' ? 'u' : 'x'}_0k2f9x8a1b3c5d7e9f`;
  });

const ask = (asker: Asker, route: Route): Promise<Reply<ErrorBody>> => {
  const { method } = route;
  // Without a named workspace, a user of several workspaces only learns that there is no such resource.
  const query = { workspace_id: workspace };
  const path = pathOf(route);
  // Complete for the routes of members, where the role is checked after the parameters.
  const body = method === 'GET' ? {} : { body: { user_id: 'u_0k2f9x8a1b3c5d7e9f', role: 'member' } };
  switch (asker) {
    case 'no key':
      return api.call(method, path, { key: null });
    case 'wrong key':
      return api.call(method, path, { key: 'sk_wrong', headers: { 'x-forwarded-for': nextAddress() } });
    case 'tools key':
      return toolsKey.call(method, path, body);
    case 'read-only key':
      return readKey.call(method, path);
    case 'read_only':
      return reader.api.call(method, path, { query, ...body });
    case 'member':
      return member.api.call(method, path, { query, ...body });
    case 'owner':
      return api.call(method, path, body);
    case 'other workspace':
      return stranger.api.call(method, path, body);
  }
};

/** Whether a caller is admitted. The route's own answer does not matter. */
const told = (asker: Asker, { template }: Route, { status, body }: Reply<ErrorBody>): string => {
  if (status === 401 || status === 403) return `${status} \`${body.code}\``;
  return asker === 'other workspace' && status === 404 && template.includes('{') ? '404' : 'yes';
};

describe('who may call a route', () => {
  // docs/reference/rest-api.md#authentication #roles #api-key-tools
  it('is the same as its page says, for every route', async () => {
    for (const route of routes) {
      const answers: string[] = [];
      for (const asker of ASKERS) answers.push(told(asker, route, await ask(asker, route)));
      rows.set(`${route.method} ${route.template}`, answers.join(' | '));
      const [none, wrong, forTools, readOnlyKey, readOnly] = answers;
      const changes = route.method !== 'GET' && !READS_BY_POST.includes(route.template);
      if (!route.isOpen) expect({ route, none, wrong }).toMatchObject({ none: '401 `unauthorized`', wrong: none });
      if (!route.isOpen && route.template !== TOOLS)
        expect({ route, forTools }).toMatchObject({ forTools: '403 `tools_only_key`' });
      if (changes && !route.isOpen)
        expect({ route, readOnlyKey }).toMatchObject({ readOnlyKey: '403 `read_only_key`' });
      const ofUser = route.template.startsWith('/v1/api_keys') || route.template.endsWith('/members/{userId}');
      if (changes && !route.isOpen && !ofUser)
        expect({ route, readOnly }).toMatchObject({ readOnly: '403 `read_only_member`' });
    }
    const page = pageOf(rows);
    if (writes) await writeFile(PAGE, page);
    expect(await readFile(PAGE, 'utf8')).toBe(page);
  }, 240_000);

  it('and nothing of the first workspace was changed by all of it', async () => {
    expect((await api.getSource(sourceId)).active).toBe(true);
    const members = await api.expect<Data<unknown[]>>(200, 'GET', `/v1/workspaces/${workspace}/members`);
    expect(members.data).toHaveLength(3);
  });
});

const pageOf = (table: ReadonlyMap<string, string>): string =>
  [
    '# Who may call a route',
    '',
    'Written by [test/e2e/api-authorization.e2e-spec.ts](../../test/e2e/api-authorization.e2e-spec.ts), which asks a running server on each route of its OpenAPI document. `yes` means that the request is let through: what it asks for may still be wrong or not exist. The tools key [opens tools only](rest-api.md#api-key-tools). `read_only`, `member` and `owner` are [roles](rest-api.md#roles) of the user in the workspace of the request. A user of another workspace finds nothing of this one: its ids are 404.',
    '',
    `| Route | ${ASKERS.join(' | ')} |`,
    `| --- ${'| --- '.repeat(ASKERS.length)}|`,
    ...[...table].map(([route, answers]) => `| \`${route}\` | ${answers} |`),
    '',
  ].join('\n');
