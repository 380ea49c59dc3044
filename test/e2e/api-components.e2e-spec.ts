import { afterEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Component, type Data, type ErrorBody, type Paged, type Source } from '#test/harness/api-client.js';
import { componentCode, emitterCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api } = instance;
const post = (body: Record<string, unknown>) =>
  api.call<Data<Component> & ErrorBody>('POST', '/v1/components', { body });

describe('saving a component', () => {
  // docs/reference/rest-api.md#component-fields #component-configurable-props
  it('answers 200 with the code, its SHA-256 and the metadata that the code declares', async () => {
    const code = componentCode({
      name: 'Saved',
      key: 'saved-one',
      version: '1.2.3',
      props: `
        http: '$.interface.http',
        timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
        db: '$.service.db',
        count: { type: 'integer', label: 'Count', description: 'How many', optional: true, min: 1, max: 9, default: 3 },
        tags: { type: 'string[]', options: ['a', { label: 'Bee', value: 'b' }] },
        later: { type: 'string', async options() { return []; } },
        token: { type: 'string', secret: true }`,
      members: `description: 'Says what it does', run() {},`,
    });
    const reply = await post({ component_code: code });
    expect(reply.status).toBe(200);
    const { data } = reply.body;
    expect(data).toMatchObject({
      id: expect.stringMatching(/^sc_/),
      code,
      code_hash: createHash('sha256').update(code, 'utf8').digest('hex'),
      name: 'Saved',
      key: 'saved-one',
      version: '1.2.3',
      description: 'Says what it does',
      type: 'source',
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect(data.created_at).toBeGreaterThan(Date.now() / 1000 - 60);
    expect(Number.isInteger(data.created_at)).toBe(true);
    expect(data.configurable_props).toEqual([
      { name: 'http', type: '$.interface.http' },
      { name: 'timer', type: '$.interface.timer', default: { intervalSeconds: 900 } },
      { name: 'db', type: '$.service.db' },
      {
        name: 'count',
        type: 'integer',
        label: 'Count',
        description: 'How many',
        optional: true,
        min: 1,
        max: 9,
        default: 3,
      },
      { name: 'tags', type: 'string[]', options: ['a', { label: 'Bee', value: 'b' }] },
      { name: 'later', type: 'string', remoteOptions: true },
      { name: 'token', type: 'string', secret: true },
    ]);
  });

  // docs/reference/rest-api.md#component-file-name #component-files
  it('resolves imports above the code within its files, by file_name', async () => {
    const code = `import app from '../../shop.app.mjs'; export default { name: app.label, version: '1', props: { http: '$.interface.http' }, run() {} };`;
    const files = { 'shop/shop.app.mjs': `export default { label: 'From Above' };` };
    const body = { component_code: code, files };
    const saved = await post({ ...body, file_name: 'shop/sources/new-order/new-order.mjs' });
    expect(saved).toMatchObject({ status: 200, body: { data: { name: 'From Above' } } });
    const refused = await post({ ...body, file_name: 'new-order.mjs' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_component' } });
  });

  // docs/reference/rest-api.md#component-code-hash
  it('hashes the exact UTF-8 bytes', async () => {
    const code = `// ključ 陳 🚰\n${relayCode()}`;
    const { body } = await post({ component_code: code });
    expect(body.data.code_hash).toBe(createHash('sha256').update(Buffer.from(code, 'utf8')).digest('hex'));
    expect(body.data.code).toBe(code);
  });

  // docs/reference/rest-api.md#component-same-code #idempotency
  it('gives the same component for the same code, also when posted twice at once', async () => {
    const code = relayCode();
    const [first, second] = await Promise.all([post({ component_code: code }), post({ component_code: code })]);
    const third = await post({ component_code: code });
    expect([first.status, second.status, third.status]).toEqual([200, 200, 200]);
    expect(new Set([first, second, third].map(({ body }) => body.data.id)).size).toBe(1);
    expect(third.body.data.updated_at).toBeGreaterThanOrEqual(first.body.data.updated_at);
    expect(third.body.data.created_at).toBe(first.body.data.created_at);
  });

  // docs/reference/rest-api.md#component-typescript
  it.each([
    ['CommonJS', `module.exports = { name: 'Common', props: { http: '$.interface.http' }, run() {} };`],
    [
      'an await at the top',
      `const name = await Promise.resolve('Common'); export default { name, props: { http: '$.interface.http' }, run() {} };`,
    ],
    ['exports.default', `exports.default = { name: 'Common', props: { http: '$.interface.http' }, run() {} };`],
    ['no run, with an interface', `export default { name: 'Common', props: { http: '$.interface.http' } };`],
    [
      'Node built-ins',
      `import { hostname } from 'node:os'; import fs from 'fs';
      export default { name: 'Common', props: { http: '$.interface.http' }, run() { return [hostname, fs]; } };`,
    ],
    [
      'TypeScript',
      `const n: number = 1; export default { name: 'Common', props: { http: '$.interface.http' }, run(): number { return n; } };`,
    ],
  ])('takes %s', async (_name, code) => {
    const reply = await post({ component_code: code });
    expect(reply).toMatchObject({ status: 200, body: { data: { name: 'Common', version: '' } } });
  });

  // docs/reference/rest-api.md#component-version-macro
  it('replaces {{ts}} in a version by the time of saving', async () => {
    const { body } = await post({ component_code: componentCode({ version: '0.0.{{ts}}', members: 'run() {},' }) });
    expect(body.data.version).toMatch(/^0\.0\.\d{13}$/);
  });

  // docs/reference/rest-api.md#component-action #source-action-refused
  it('takes an action, which is not deployable as a source', async () => {
    const code = `export default { name: 'Act', key: 'act', version: '1', type: 'action', run() {} };`;
    const { status, body } = await post({ component_code: code });
    expect(status).toBe(200);
    const deployed = await api.call<ErrorBody>('POST', '/v1/sources', { body: { component_id: body.data.id } });
    expect(deployed).toMatchObject({ status: 400, body: { code: 'component_not_deployable' } });
  });
});

describe('refusing a component', () => {
  // docs/reference/rest-api.md#component-evaluation
  it.each([
    ['nothing', {}, /component_code|component_url/],
    ['a number', { component_code: 7 }, /component_code/],
    ['a syntax error', { component_code: 'export default { name: ' }, /./],
    [
      'a throw while loading',
      { component_code: `throw new Error('loaded badly'); export default {};` },
      /loaded badly/,
    ],
    ['no export', { component_code: 'const a = 1;' }, /export/],
    ['no run and no interface', { component_code: `export default { name: 'None', version: '1' };` }, /run/],
    [
      'an unknown interface',
      { component_code: componentCode({ props: `x: '$.interface.telepathy'`, members: 'run() {},' }) },
      /telepathy.*|.*\bx\b/,
    ],
    [
      'an array type that has none',
      { component_code: componentCode({ props: `x: { type: 'object[]' }`, members: 'run() {},' }) },
      /\bx\b/,
    ],
    [
      'an app alone',
      { component_code: `export default { type: 'app', app: 'slack', propDefinitions: {}, methods: {} };` },
      /app/,
    ],
  ])('answers 400 on %s and says why', async (_name, body, why) => {
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(reply.body.code).toMatch(/^[a-z_]+$/);
    expect(reply.body.error).toMatch(why);
  });

  it('names the prop in the details', async () => {
    const code = componentCode({ props: `wrong: '$.service.unknown'`, members: 'run() {},' });
    const { body } = await post({ component_code: code });
    expect(JSON.stringify(body.details)).toContain('wrong');
  });

  it('answers 404 on an unknown id and an unknown key', async () => {
    for (const name of ['sc_doesnotexist', 'no-such-key']) {
      const reply = await api.call<ErrorBody>('GET', `/v1/components/${name}`);
      expect(reply).toMatchObject({ status: 404, body: { code: 'component_not_found' } });
      expect(reply.body.error).toContain(name);
    }
  });

  it('leaves nothing deployed behind', async () => {
    await api.call('POST', '/v1/sources', { body: { component_code: 'export default { name: ' } });
    const { page_info } = await api.expect<Paged<unknown>>(200, 'GET', '/v1/users/me/sources');
    expect(page_info.total_count).toBe(0);
  });
});

describe('finding a component', () => {
  // docs/reference/rest-api.md#component-key-lookup
  it('by id and by key, the newest version of a key first', async () => {
    const save = (version: string) =>
      api.createComponent(componentCode({ key: 'versioned', name: 'V', version, members: 'run() {},' }));
    const old = await save('0.9.0');
    const newest = await save('0.10.0');
    await save('0.2.0');
    const byKey = await api.expect<Data<Component>>(200, 'GET', '/v1/components/versioned');
    expect(byKey.data).toMatchObject({ id: newest.id, version: '0.10.0' });
    const byId = await api.expect<Data<Component>>(200, 'GET', `/v1/components/${old.id}`);
    expect(byId.data).toMatchObject({ id: old.id, version: '0.9.0', code_hash: old.code_hash });
  });
});

describe('listing and deleting components', () => {
  // docs/reference/rest-api.md#components-list #component-delete
  it('lists them without code, and deletes one that no source and no workflow has', async () => {
    const { data: me } = await api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const path = `/v1/workspaces/${me.orgs[0]?.id}/components`;
    const { id } = await api.createComponent(
      `export default { key: 'listed-only', name: 'Listed', version: '0.1.0', type: 'action', run() { return 1; } };`,
    );
    const listed = await api.expect<Paged<{ id: string }>>(200, 'GET', path, {
      query: { q: 'LISTED-o', type: 'action' },
    });
    expect(listed.data.map((each) => each.id)).toEqual([id]);
    expect(listed.data[0]).not.toHaveProperty('code');

    const steps = [{ namespace: 'act', uses: 'listed-only' }];
    const { data: workflow } = await api.expect<Data<{ id: string }>>(200, 'POST', '/v1/workflows', {
      body: { name: 'Uses it', triggers: [{ type: 'manual' }], steps },
    });
    const refused = await api.call<ErrorBody>('DELETE', `/v1/components/${id}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'component_in_use', details: { sources: [], workflows: [{ id: workflow.id, name: 'Uses it' }] } },
    });
    await api.expect(204, 'DELETE', `/v1/workflows/${workflow.id}`);
    await api.expect(204, 'DELETE', `/v1/components/listed-only`);
    expect((await api.call('GET', `/v1/components/${id}`)).status).toBe(404);
    const history = await api.expect<Paged<{ type: string }>>(200, 'GET', `/v1/audit/${id}`);
    expect(history.data.map(({ type }) => type)).toEqual(['ComponentSaved', 'ComponentDeleted']);
  });

  // docs/reference/rest-api.md#component-delete
  it('keeps a component whose source is deployed at the same moment, which then runs', async () => {
    const { id } = await api.createComponent(emitterCode(`key: 'at-once',`));
    const deploying = api.call<Data<Source>>('POST', '/v1/sources', { body: { component_id: id } });
    const deleted = await api.call('DELETE', `/v1/components/${id}`);
    const { status, body } = await deploying;
    expect([200, 404]).toContain(status);
    if (status === 404) return expect(deleted.status).toBe(204);
    expect((await api.call('GET', `/v1/components/${id}`)).status).toBe(200);
    await instance.post(body.data, [['ran']]);
    return expect(await instance.payloads(body.data, 1)).toEqual(['ran']);
  });
});

describe('component_url', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
  });

  const served = async (routes: Record<string, string>): Promise<string> => {
    server = createServer((request, response) => {
      const text = routes[request.url ?? ''];
      response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(text ?? 'no');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  // docs/reference/rest-api.md#component-url-fetch #component-relative-imports
  it('fetches the code and its relative imports', async () => {
    const url = await served({
      '/a/main.mjs': `import { name } from '../lib/name.mjs'; export default { name, version: '1', props: { http: '$.interface.http' }, run() {} };`,
      '/lib/name.mjs': `export const name = 'Fetched';`,
    });
    const reply = await post({ component_url: `${url}/a/main.mjs` });
    expect(reply).toMatchObject({ status: 200, body: { data: { name: 'Fetched' } } });
  });

  it('fetches files up to the size of code, and refuses larger ones', async () => {
    const sized = (kb: number): string => `/*${'x'.repeat(kb * 1024)}*/ export const name = 'Large';`;
    const url = await served({
      '/main.mjs': `import { name } from './large.mjs'; export default { name, version: '1', props: { http: '$.interface.http' }, run() {} };`,
      '/large.mjs': sized(1_000),
      '/direct.mjs': sized(1_024),
    });
    const fetched = await post({ component_url: `${url}/main.mjs` });
    expect(fetched).toMatchObject({ status: 200, body: { data: { name: 'Large' } } });
    const refused = await post({ component_url: `${url}/direct.mjs` });
    expect(refused).toMatchObject({ status: 422, body: { code: 'component_url_unusable' } });
    expect(refused.body.error).toContain(`${1_024 * 1_024} bytes`);
  });

  // docs/reference/rest-api.md#component-code-or-url
  it('is only metadata beside component_code', async () => {
    const url = 'https://example.invalid/nowhere.mjs';
    const { status, body } = await post({ component_code: relayCode('Given'), component_url: url });
    expect({ status, name: body.data.name }).toEqual({ status: 200, name: 'Given' });
    expect(body.data).toMatchObject({ url });
  });

  // docs/reference/rest-api.md#component-url-fetch
  it('answers 422 with the address and the status when nothing is there', async () => {
    const url = await served({});
    const reply = await post({ component_url: `${url}/gone.mjs` });
    expect(reply.status).toBe(422);
    expect(reply.body.error).toContain(`${url}/gone.mjs`);
    expect(reply.body.error).toContain('404');
  });

  // docs/reference/rest-api.md#component-url-fetch
  it.each(['file:///etc/passwd', 'git://example.invalid/a', 'nonsense', 'http://169.254.169.254/latest'])(
    'refuses %s',
    async (component_url) => {
      const reply = await post({ component_url });
      expect([400, 422]).toContain(reply.status);
      expect(reply.text).not.toContain('root:');
    },
  );
});
