import { beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { type Component, type Data, type Reply, type Source } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { api, server } = instance;

/** Sends a raw HTTP line, so that no client escapes or refuses its content. */
const rawStatus = (line: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('end', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])));
    socket.write(`${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.apiKey}\r\nConnection: close\r\n\r\n`);
  });

const refused = ({ status, body }: Reply): object => {
  const { code, details } = body as { code: string; details?: Record<string, unknown> };
  return { status, code, ...details };
};

const save = (code: string, more: object = {}): Promise<Reply<Data<Component>>> =>
  api.call('POST', '/v1/components', { body: { component_code: code, ...more } });

const EMIT = 'run(event) { this.$emit(event.body); },';

describe('a malformed id, key or slug', () => {
  let keyless: Component;
  let source: Source;
  beforeAll(async () => {
    keyless = await api.createComponent(componentCode({ key: '', members: EMIT }));
    source = await instance.deploy(relayCode());
  });

  // docs/reference/rest-api.md#id-prefixes
  it('finds nothing', async () => {
    expect(keyless.key).toBeNull();
    const long = 'x'.repeat(4_000);
    const names = [
      '%00',
      '%00%00',
      'null',
      'undefined',
      '__proto__',
      'constructor',
      'toString',
      '%EF%BF%BD',
      '%20',
      long,
    ];
    const ids = ['sc_', 'dc_', 'wh_', 'key_'].flatMap((prefix) => names.map((name) => prefix + name));
    for (const name of [...names, ...ids]) {
      for (const path of ['components', 'sources', 'webhooks', 'audit']) {
        const status = await rawStatus(`GET /v1/${path}/${name}`);
        expect({ path, name: name.slice(0, 20), status }).toEqual({ path, name: name.slice(0, 20), status: 404 });
      }
      for (const path of ['sources', 'webhooks', 'api_keys']) {
        const status = await rawStatus(`DELETE /v1/${path}/${name}`);
        expect({ path, name: name.slice(0, 20), status }).toEqual({ path, name: name.slice(0, 20), status: 404 });
      }
      const events = await rawStatus(`GET /v1/sources/${name}/event_summaries`);
      expect({ name: name.slice(0, 20), events }).toEqual({ name: name.slice(0, 20), events: 404 });
      const delivery = await rawStatus(`POST /v1/webhooks/wh_x/deliveries/${name}/redeliver`);
      expect({ name: name.slice(0, 20), delivery }).toEqual({ name: name.slice(0, 20), delivery: 404 });
    }
    // Half of a surrogate pair is not text, so the request is refused with a reason.
    for (const path of ['components/%ED%A0%80', 'sources/%C3']) expect(await rawStatus(`GET /v1/${path}`)).toBe(400);
  });

  it('deploys nothing by key', async () => {
    for (const key of ['\0', '__proto__', 'null', 'registry', 'search']) {
      const reply = await api.call('POST', '/v1/sources', { body: { key } });
      expect({ key, ...refused(reply) }).toMatchObject({ status: key === '\0' ? 400 : 404 });
    }
  });

  it('(control) differs from a valid one', async () => {
    expect(await rawStatus(`GET /v1/components/${keyless.id}`)).toBe(200);
    expect(await rawStatus(`GET /v1/sources/${source.name_slug}`)).toBe(200);
  });
});

describe('texts of a component', () => {
  it.each<[string, string, number, number]>([
    ['name', `name: 'x'.repeat(1025), key: 'k1'`, 1_024, 1_025],
    ['key', `name: 'n', key: 'ü'.repeat(513)`, 1_024, 1_026],
    ['version', `name: 'n', version: 'x'.repeat(1025)`, 1_024, 1_025],
    ['description', `name: 'n', description: 'x'.repeat(16385)`, 16_384, 16_385],
    ['annotations', `name: 'n', annotations: { a: 'x'.repeat(1024) }`, 1_024, 1_032],
    ['label of prop "http"', `name: 'n', label: 1`, 1_024, 1_025],
  ])('%s: refused above its limit', async (field, parts, limit, actual) => {
    const props = `http: { type: '$.interface.http', label: 'x'.repeat(${field.startsWith('label') ? 1_025 : 4}) }`;
    const reply = await save(`export default { ${parts}, props: { ${props} }, ${EMIT} }`);
    expect(refused(reply)).toMatchObject({ status: 400, code: 'invalid_component', field, limit, actual });
  });

  // docs/reference/rest-api.md#text-parameters
  it('refuse NUL, and store half of a surrogate pair as U+FFFD', async () => {
    const nul = await save(`export default { name: 'a\\0b', props: { http: '$.interface.http' }, ${EMIT} }`);
    expect(refused(nul)).toMatchObject({ status: 400, code: 'invalid_component', field: 'name' });
    const code = componentCode({ name: 'n', key: 'k', members: `description: 'a\\ud800', ${EMIT}` });
    const half = await save(code.replace('key: "k"', `key: 'half\\udc00'`));
    expect(half.status).toBe(200);
    expect(half.body.data).toMatchObject({ key: 'half\ufffd', description: 'a\ufffd' });
    await server.restart();
    expect((await api.call<Data<Component>>('GET', '/v1/components/half%EF%BF%BD')).body.data.id).toBe(
      half.body.data.id,
    );
  });

  it('props may have names of inherited members, and reach the run even after a restart', async () => {
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'run', 'hooks', 'length'];
    const props = ['http: "$.interface.http"', ...names.map((name) => `${name}: 'string'`)].join(', ');
    const told = names.map((name) => `${name}: this.${name}`).join(', ');
    const code = componentCode({ props, members: `run() { this.$emit({ ${told} }); },` });
    const given = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
    const source = await instance.deploy(code, given);
    expect(source.configured_props).toMatchObject(given);
    await instance.post(source, {});
    expect(await instance.payloads(source, 1)).toEqual([given]);
    await server.restart();
    expect((await api.getSource(source.id)).configured_props).toMatchObject(given);
    await instance.post(source, {});
    expect(await instance.payloads(source, 2)).toEqual([given, given]);
  });

  it('props may not be named __proto__ or $emit', async () => {
    for (const name of ['["__proto__"]', '$emit']) {
      const reply = await save(componentCode({ props: `http: '$.interface.http', ${name}: 'string'`, members: EMIT }));
      expect(refused(reply)).toMatchObject({ status: 400, code: 'invalid_component' });
      expect((reply.body as object as { error: string }).error).toContain('is reserved');
    }
  });
});

describe('keys of files and of configured_props', () => {
  it('paths of files must be plain', async () => {
    const code = `import { x } from './lib/x.mjs';\n${componentCode({ members: EMIT })}`;
    const good = await save(code, { files: { 'lib/x.mjs': 'export const x = 1;', constructor: 'kept' } });
    expect(good.status).toBe(200);
    for (const path of ['../x', '/etc/passwd', 'a\0', '\ud800', '__proto__', 'a\\b', '', 'x'.repeat(513)]) {
      const body = `{"component_code":${JSON.stringify(code)},"files":{"lib/x.mjs":"export const x = 1;",${JSON.stringify(path)}:""}}`;
      const headers = { 'content-type': 'application/json' };
      for (const route of ['/v1/components', '/v1/sources']) {
        const reply = await api.call('POST', route, { body, headers });
        expect({ path, ...refused(reply) }).toMatchObject({ status: 400, code: 'invalid_parameter', field: 'files' });
      }
    }
  });

  it('__proto__ and others pollute nothing and are dropped, or kept as values, even after a restart', async () => {
    const code = componentCode({
      props: `http: '$.interface.http', map: 'object'`,
      members: 'run() { this.$emit({ keys: Object.keys(this.map), polluted: ({}).polluted ?? null }); },',
    });
    const component = await api.createComponent(code);
    const map = '{"__proto__":{"polluted":1},"constructor":2,"nul\\u0000":3,"half\\ud800":4}';
    const body = `{"component_id":"${component.id}","configured_props":{"map":${map},"__proto__":{"polluted":1},"other\\u0000":1}}`;
    const made = await api.call<Data<Source>>('POST', '/v1/sources', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(made.status).toBe(200);
    const source = made.body.data;
    const keys = ['__proto__', 'constructor', 'nul\0', 'half\ud800'];
    for (const restart of [false, true]) {
      if (restart) await server.restart();
      const stored = await api.getSource(source.id);
      expect(Object.keys(stored.configured_props).sort()).toEqual(['http', 'map']);
      expect(Object.keys(stored.configured_props['map'] as object)).toEqual(keys);
      await instance.post(source, {});
      const payloads = await instance.payloads(source, restart ? 2 : 1);
      expect(payloads.at(-1)).toEqual({ keys, polluted: null });
    }
  });

  it('number at most 1,000, with values of 1 MB in all', async () => {
    const props = Array.from({ length: 20 }, (_, n) => `p${n}: { type: 'string', optional: true }`).join(', ');
    const code = componentCode({ props: `http: '$.interface.http', ${props}`, members: EMIT });
    const { id: component_id } = await api.createComponent(code);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, n]));
    const tooMany = await api.call('POST', '/v1/sources', { body: { component_id, configured_props: many } });
    expect(refused(tooMany)).toMatchObject({ status: 400, field: 'configured_props', limit: 1_000, actual: 1_001 });
    const half = (from: number): object =>
      Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`p${from + n}`, 'x'.repeat(60_000)]));
    const source = await api.createSource({ component_id, configured_props: half(0) });
    // The update alone is small enough, but not together with the stored values.
    const body = { configured_props: half(10) };
    expect(refused(await api.call('PUT', `/v1/sources/${source.id}`, { body }))).toMatchObject({
      status: 400,
      code: 'invalid_prop',
      field: 'configured_props',
      limit: 1_048_576,
    });
    expect((await api.getSource(source.id)).configured_props).not.toHaveProperty('p10');
  });
});

describe('names from users', () => {
  it('have limits, contain no NUL, and are well-formed', async () => {
    const url = instance.receiver.url;
    for (const [method, path, body, field] of [
      ['POST', '/v1/webhooks', { url, name: 'x'.repeat(256) }, 'name'],
      ['POST', '/v1/webhooks', { url, name: 'a\0' }, 'name'],
      ['POST', '/v1/webhooks', { url, description: 'x'.repeat(4_097) }, 'description'],
      ['POST', '/v1/webhooks', { url: `${url}/${'x'.repeat(2_048)}` }, 'url'],
      ['POST', '/v1/webhooks', { url: `${url}/\0` }, 'url'],
      ['POST', '/v1/api_keys', { name: 'x'.repeat(101) }, 'name'],
      ['POST', '/v1/api_keys', { name: '\0' }, 'name'],
      ['POST', '/v1/sources', { component_code: relayCode(), name: 'x'.repeat(256) }, 'name'],
      ['POST', '/v1/sources', { component_code: relayCode(), name: 'a\0b' }, 'name'],
      [
        'POST',
        '/v1/subscriptions',
        { emitter_id: 'dc_*', listener_id: 'wh_x', event_name: 'x'.repeat(1_025) },
        'event_name',
      ],
      ['POST', '/v1/subscriptions', { emitter_id: 'dc_*', listener_id: 'wh_x', event_name: '\0' }, 'event_name'],
      ['POST', '/v1/subscriptions', { emitter_id: `dc_${'x'.repeat(300)}`, listener_id: 'wh_x' }, 'emitter_id'],
    ] as const) {
      const reply = await api.call(method, path, { body });
      expect({ path, ...refused(reply) }).toMatchObject({ path, status: 400, field });
      expect(reply.text.length).toBeLessThan(1_500);
    }
    const half = await api.call<Data<{ name: string }>>('POST', '/v1/webhooks', { body: { url, name: 'a\ud800' } });
    expect(half.body.data.name).toBe('a\ufffd');
  });
});

describe('the history of a source and a webhook', () => {
  // docs/reference/rest-api.md#audit-masking
  it('shows no secret, no key and no reference to one', async () => {
    const secret = 'hush-0123456789';
    const code = componentCode({
      props: `http: '$.interface.http', token: { type: 'string', secret: true }`,
      members: EMIT,
    });
    const source = await instance.deploy(code, { token: secret });
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { configured_props: { token: `${secret}-2` } } });
    const webhook = await api.createWebhook(instance.receiver.url);
    const key = await api.expect<Data<{ id: string; key: string }>>(200, 'POST', '/v1/api_keys', { body: {} });
    const wrong = await api.call('PUT', `/v1/sources/${source.id}`, {
      body: { configured_props: { token: { nested: secret } } },
    });
    expect(wrong.status).toBe(400);
    const signingKey = webhook.signing_key ?? '';
    expect(signingKey).toMatch(/^whsec_/);
    const told = [wrong.text];
    for (const id of [source.id, webhook.id, key.data.id]) {
      for (const query of [{}, { at: '0' }]) {
        const reply = await api.call('GET', `/v1/audit/${id}`, { query });
        expect({ id, status: reply.status }).toEqual({ id, status: 200 });
        told.push(reply.text);
      }
    }
    told.push((await api.call('GET', `/v1/sources/${source.id}`)).text, server.lastOutput);
    const all = told.join('\n');
    for (const hidden of [secret, signingKey, key.data.key, server.apiKey, '"sec_']) {
      expect({ hidden, shown: all.includes(hidden) }).toEqual({ hidden, shown: false });
    }
    // Control: values that are not secret are present.
    expect(all).toContain('SourceDeploymentStarted');
    expect(all).toContain('********');
  });
});
