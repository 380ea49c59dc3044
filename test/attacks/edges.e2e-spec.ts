import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { echoCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance, useStandalone } from '#test/harness/instance.js';

const FORWARDED = {
  'x-forwarded-for': '198.51.100.9, 203.0.113.7',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'public.example',
};

describe('forwarding headers', () => {
  describe('of a client', () => {
    const instance = useInstance();

    // docs/reference/rest-api.md#client-address
    it('have no effect, and reach the component unchanged', async () => {
      const source = await instance.deploy(echoCode());
      const event = jsonOf(await instance.post(source, {}, FORWARDED));
      expect(event).toMatchObject({ client_ip: '127.0.0.1', headers: FORWARDED });
      expect((event as { url: string }).url).toMatch(/^http:\/\/127\.0\.0\.1/);
    });

    it('make /metrics and the checks of /readyz private, unlike a request without them (the control)', async () => {
      for (const [name, value] of Object.entries({ ...FORWARDED, forwarded: 'for=127.0.0.1', via: '1.1 x' })) {
        const metrics = await instance.api.call('GET', '/metrics', { key: null, headers: { [name]: value } });
        expect([metrics.status, metrics.body]).toMatchObject([403, { code: 'operator_only' }]);
        const ready = await instance.api.call('GET', '/readyz', { key: null, headers: { [name]: value } });
        expect(ready).toMatchObject({ status: 200, body: { status: 'ready' } });
        expect(ready.text).not.toContain('checks');
      }
      expect((await instance.api.call('GET', '/metrics', { key: null })).status).toBe(200);
      expect((await instance.api.call('GET', '/readyz', { key: null })).text).toContain('checks');
    });
  });

  describe('of a trusted proxy', () => {
    const instance = useInstance({ env: { SLUICE_TRUSTED_PROXIES: '127.0.0.0/8,::1' } });

    // docs/reference/rest-api.md#client-address
    it('name the client: the last untrusted address', async () => {
      const source = await instance.deploy(echoCode());
      const event = jsonOf(await instance.post(source, {}, FORWARDED));
      expect(event).toMatchObject({ client_ip: '203.0.113.7', headers: FORWARDED });
      expect((event as { url: string }).url).toMatch(/^https:\/\/public\.example\/h\//);
    });

    const guess = (n: number, address: string) =>
      instance.api.call('GET', '/v1/users/me', { key: `guess-${n}`, headers: { 'x-forwarded-for': address } });

    it('decide whose guesses of an API key end in 429, and lock out no valid key there', async () => {
      const statuses: number[] = [];
      for (let n = 0; n < 80; n++) statuses.push((await guess(n, '203.0.113.7')).status);
      expect(statuses.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 401));
      const refused = statuses.filter((status) => status === 429).length;
      expect(refused).toBeGreaterThan(10);
      const last = await guess(99, '203.0.113.7');
      expect([last.status, last.body]).toMatchObject([429, { code: 'rate_limited' }]);
      expect(Number(last.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      const right = await instance.api.call('GET', '/v1/users/me', { headers: { 'x-forwarded-for': '203.0.113.7' } });
      expect(right.status).toBe(200);
      // Control: guesses are counted per address.
      expect((await guess(0, '203.0.113.8')).status).toBe(401);
    });

    it('leave /metrics private, even where the proxy adds none', async () => {
      expect((await instance.api.call('GET', '/metrics', { key: null })).status).toBe(403);
    });
  });
});

describe('malformed requests', () => {
  const instance = useStandalone();
  let source: Source;
  beforeAll(async () => {
    source = await instance.deploy(echoCode());
  }, 60_000);

  /** All bytes that arrive in answer until the connection ends. */
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(new URL(instance.server.url).port), '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.once('error', reject);
      socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
    });
  const LINES = 'Host: a\r\nConnection: close\r\n';

  it.each([
    ['headers above 16 KB', `GET /v1/users/me HTTP/1.1\r\n${LINES}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', 400],
    ['two lengths', `POST /v1/sources HTTP/1.1\r\n${LINES}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    ['a tunnel', `CONNECT 169.254.169.254:80 HTTP/1.1\r\n${LINES}\r\n`, 405],
    ['an expectation', `POST /v1/sources HTTP/1.1\r\n${LINES}Expect: x\r\n\r\n`, 417],
    ['a path that is no text', `GET /v1/sources/%E0%A4%A HTTP/1.1\r\n${LINES}\r\n`, 400],
    [
      'an upgrade',
      `GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
      404,
    ],
    ['all of the server', `OPTIONS * HTTP/1.1\r\n${LINES}\r\n`, 404],
    ['the API of another host', `GET http://a.example/v1/users/me HTTP/1.1\r\n${LINES}\r\n`, 401],
  ])('is answered with the error body: %s', async (_name, text, status) => {
    const answer = await exchange(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as unknown;
    expect(body).toMatchObject({ error: expect.any(String), code: expect.stringMatching(/^[a-z_]+$/) });
    expect((await instance.post(source, {})).status).toBe(200);
  });

  it('(control) a well-formed request with an absolute URL is served', async () => {
    const target = instance.endpoint(source);
    const answer = await exchange(`GET ${target}/below?a=1 HTTP/1.1\r\n${LINES}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"path":"/below"');
    expect((await send(target)).status).toBe(200);
  });
});
