import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();

/** Responds with the reply in the request. */
const obeying = (): string =>
  componentCode({ props: CUSTOM_HTTP, members: 'run(event) { this.http.respond(event.body); },' });

/** Writes a reply to the host directly, past every check in the sandbox: a record of the protocol on descriptor 4. */
const forging = (): string =>
  componentCode({
    props: CUSTOM_HTTP,
    head: `import { writeSync } from 'node:fs';`,
    members: `async run(event) {
      const { headers, index, n } = event.body;
      // The sandbox has sent its own records of this run by then.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      const json = Buffer.from(JSON.stringify(['r', n, 200, headers, 1, 0]));
      const head = Buffer.alloc(12);
      head.writeUInt32LE(index, 0);
      head.writeUInt32LE(json.length, 4);
      writeSync(4, Buffer.concat([head, json]));
      await new Promise((resolve) => setTimeout(resolve, 200));
    },`,
  });

describe('a reply of a component', () => {
  let obedient: Source;
  let neighbour: Source;
  beforeAll(async () => {
    [obedient, neighbour] = await Promise.all([instance.deploy(obeying()), instance.deploy(obeying())]);
  }, 60_000);

  const serverLives = async (): Promise<void> => {
    const answer = await instance.post(neighbour, { status: 201, headers: { 'x-a': 'b' }, body: 'alive' });
    expect([answer.status, answer.headers['x-a'], answer.text]).toEqual([201, 'b', 'alive']);
  };

  // docs/reference/component-model.md#respond-headers
  it.each([
    ['trailer', 'x'],
    ['Trailer', 'x-a'],
    ['transfer-encoding', 'chunked'],
    ['content-length', '1'],
    ['connection', 'upgrade'],
    ['keep-alive', 'timeout=1'],
    ['upgrade', 'websocket'],
    ['te', 'trailers'],
    ['proxy-connection', 'close'],
  ])('with header %j, which is of the connection, goes out whole without it', async (name, value) => {
    const answer = await instance.post(obedient, { headers: { [name]: value, 'x-a': 'b' }, body: 'whole' });
    expect([answer.status, answer.text, answer.headers['x-a']]).toEqual([200, 'whole', 'b']);
    expect(answer.headers[name.toLowerCase()]).not.toBe(value);
    await serverLives();
  });

  it.each([
    ['x-long', 'x'.repeat(20_000)],
    ['x-beyond', '\u20ac'],
    ['x-split', 'a\r\nset-cookie: b=c'],
    ['bad name', 'x'],
    ['', 'x'],
  ])('with header %j fails alone, with an error that names it', async (name, value) => {
    const answer = await instance.post(obedient, { headers: { [name]: value }, body: 'never' });
    expect(answer.status).toBe(500);
    const { code, details } = JSON.parse(answer.text) as { code: string; details: { invocation_id: string } };
    expect(code).toBe('run_failed');
    const error = await eventually('the error of the run', async () => {
      const found = (await instance.history(obedient, 1, '$errors')).map(({ event }) => JSON.stringify(event));
      return found.find((text) => text.includes(details.invocation_id));
    });
    expect(error).toContain('respond:');
    expect(error).toContain(name === '' ? 'header name' : name);
    expect(answer.headers['set-cookie']).toBeUndefined();
    await serverLives();
  });

  it('passes with harmless variants of these headers (the control)', async () => {
    const headers = { 'x-trailer': 'x', 'content-language': 'en', 'set-cookie': ['a=1', 'b=2'], 'x-latin': 'é' };
    const answer = await instance.post(obedient, { headers, body: 'fine' });
    expect([answer.status, answer.text]).toEqual([200, 'fine']);
    const path = new URL(instance.endpoint(obedient)).pathname;
    expect(answer.headers['set-cookie']).toEqual([`a=1; Path=${path}`, `b=2; Path=${path}`]);
  });

  it.each([[100], [101], [103], [199], [204], [205], [304], [599]])(
    'of status %i is one whole answer',
    async (status) => {
      const answer = await instance.post(obedient, { status, body: 'text', headers: { 'x-a': 'b' } });
      expect([answer.status, answer.headers['x-a']]).toEqual([status < 200 ? 200 : status, 'b']);
      await serverLives();
    },
  );

  describe('forged past the sandbox', () => {
    let forger: Source;
    /** Numbers of a record of a sandbox's first run, found by trial. */
    let fitting: { readonly index: number; readonly n: number } | undefined;
    beforeAll(async () => {
      forger = await instance.deploy(forging());
    }, 60_000);

    it('is sent when its headers are allowed (the control)', async () => {
      for (const index of [2, 1, 3])
        for (const n of [1, 0, 2]) {
          if (fitting) break;
          const answer = await instance.post(forger, { headers: { 'x-forged': '1' }, index, n });
          if (answer.headers['x-forged'] === '1') fitting = { index, n };
        }
      expect(fitting).toBeDefined();
      await serverLives();
    });

    it.each([
      { trailer: 'x' },
      { 'transfer-encoding': 'chunked' },
      { 'content-length': '0' },
      { a: 'b\r\nc: d' },
      { a: '\u20ac' },
      { 'X-A': '1', 'x-a': '2' },
    ])('fails alone with %j', async (headers) => {
      const answer = await instance.post(forger, { headers, ...fitting });
      expect([answer.status, jsonOf(answer)]).toMatchObject([500, { code: 'run_failed' }]);
      await serverLives();
    });
  });
});

/** Headers with which a reply would affect the whole origin, and their effect in a browser. */
const FOR_THE_ORIGIN: Readonly<Record<string, string | string[]>> = {
  'service-worker-allowed': '/',
  'Clear-Site-Data': '"*"',
  'STRICT-TRANSPORT-SECURITY': 'max-age=31536000; includeSubDomains',
  'Alt-Svc': 'h2="evil.example:443"; ma=31536000; persist=1',
  NEL: '{"report_to":"a","max_age":31536000}',
  'Report-To': '{"group":"a","max_age":31536000,"endpoints":[{"url":"https://evil.example"}]}',
  'Reporting-Endpoints': 'default="https://evil.example"',
  'Accept-CH': 'Sec-CH-UA-Model',
  'Origin-Agent-Cluster': '?0',
  'WWW-Authenticate': 'Basic realm="Sluice"',
  'Use-As-Dictionary': 'match="/*"',
  'Content-Type': 'multipart/x-mixed-replace; boundary=b',
};
const COOKIES = [
  'plain=1',
  'root=1; Path=/; HttpOnly',
  'twice=1; path=/v1; PATH = /',
  'wide=1; Domain=hooks.test; Path=/',
  '__Host-sid=1; Secure; Path=/',
];

// docs/reference/component-model.md#endpoint-confined #endpoint-sandbox
describe('a reply that would rule the whole origin', () => {
  const headers = { ...FOR_THE_ORIGIN, 'set-cookie': COOKIES, 'x-own': 'kept' };
  const policy = 'sandbox allow-scripts allow-forms allow-popups allow-downloads';
  const own = "sandbox allow-same-origin allow-scripts; default-src 'none'";
  const forbidden = Object.keys(FOR_THE_ORIGIN).map((name) => name.toLowerCase());
  const named = useInstance({ env: { SLUICE_ENDPOINT_DOMAIN: 'hooks.test' } });

  it.each([false, true])('has nothing of it below /h/, and the author is told (immediate: %s)', async (immediate) => {
    const source = await instance.deploy(obeying());
    const path = new URL(instance.endpoint(source)).pathname;
    const reply = { headers: { ...headers, 'Content-Security-Policy': own }, body: '<p>page</p>', immediate };
    const answer = await instance.post(source, reply);
    expect([answer.status, answer.text, answer.headers['x-own']]).toEqual([200, '<p>page</p>', 'kept']);
    for (const name of forbidden) expect([name, answer.headers[name]]).toEqual([name, undefined]);
    expect(answer.headers['set-cookie']).toEqual(
      ['plain=1', 'root=1; HttpOnly', 'twice=1', 'wide=1'].map((cookie) => `${cookie}; Path=${path}`),
    );
    expect(answer.headers['content-security-policy']).toEqual([policy, own]);

    const logs = (await instance.payloads(source, 1, '$logs')) as { k: string; msg: string }[];
    const [line] = logs.filter(({ k }) => k === 'warning');
    expect(line?.msg).toContain('left out of the reply: header service-worker-allowed, header Clear-Site-Data');
    expect(logs.filter(({ k }) => k === 'warning')).toHaveLength(1);
  });

  it('is one line of the log for each run, whatever a caller sends', async () => {
    const source = await instance.deploy(obeying());
    const cookies = Array.from({ length: 190 }, (_, i) => `__Host-${'x'.repeat(200)}${i}=1`);
    await instance.post(source, { headers: { 'set-cookie': cookies }, body: '' });
    const logs = (await instance.payloads(source, 1, '$logs')) as { msg: string }[];
    expect(logs).toHaveLength(1);
    expect(logs[0]?.msg.length).toBeLessThan(3_000);
  });

  it('is sent whole at a domain of the endpoint (the control), and confined at its path on the same server', async () => {
    const source = await named.deploy(obeying());
    const { key, endpoint_url: url } = source.configured_props['http'] as { key: string; endpoint_url: string };
    expect(url).toContain(`//${key}.hooks.test`);
    const { origin } = new URL(named.endpoint(source));
    const reply = { headers, body: 'page' };
    const answer = await send(origin, { body: reply, headers: { host: `${key}.hooks.test` } });
    for (const [name, value] of Object.entries(FOR_THE_ORIGIN)) expect(answer.headers[name.toLowerCase()]).toBe(value);
    expect(answer.headers['set-cookie']).toEqual(COOKIES);
    expect(answer.headers['content-security-policy']).toBeUndefined();
    const below = await send(`${origin}/h/${key}`, { body: reply });
    for (const name of forbidden) expect([name, below.headers[name]]).toEqual([name, undefined]);
    expect(below.headers['content-security-policy']).toBe(policy);
  });
});
