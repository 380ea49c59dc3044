import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { ProxyAgent, request } from 'undici';
import { startHttpProxy } from '#libs/egress/testing/http-proxy.js';
import { componentCode, CUSTOM_HTTP, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

/** A proxy that resolves every name to this machine, in front of a service that trusts local clients. */
let hits = 0;
const inner = createServer((_, response) => {
  hits++;
  response.end('export default {}');
}).listen(0, '127.0.0.1');
await once(inner, 'listening');
const innerPort = (inner.address() as AddressInfo).port;
// Before the servers below, because it is one of their settings.
const proxy = await startHttpProxy({ resolve: () => ({ host: '127.0.0.1', port: innerPort }) });

beforeAll(async () => {
  // Control: a client that trusts the proxy reaches the service under any name.
  const dispatcher = new ProxyAgent({ uri: `http://127.0.0.1:${proxy.port}`, proxyTunnel: true });
  expect((await request('http://anything.example/', { dispatcher })).statusCode).toBe(200);
  await dispatcher.close();
  expect(hits).toBe(1);
  hits = 0;
  proxy.asked.splice(0);
});

afterAll(async () => {
  await proxy.close();
  await new Promise((resolve) => inner.close(resolve));
});

const PROXY = `http://user:proxy-secret@127.0.0.1:${proxy.port}`;

describe.each<readonly [string, Record<string, string | undefined>]>([
  ['resolves to loopback', { SLUICE_EGRESS_ALLOW: undefined, HTTPS_PROXY: PROXY }],
  ['is exempted for every host', { SLUICE_EGRESS_ALLOW: undefined, HTTPS_PROXY: PROXY, NO_PROXY: '*' }],
  [
    'gets names, but no literals',
    { SLUICE_EGRESS_ALLOW: undefined, HTTPS_PROXY: PROXY, SLUICE_EGRESS_PROXY_RESOLVES: 'true' },
  ],
])('an outgoing proxy that %s', (_, env) => {
  const instance = useInstance({ env });
  const { api } = instance;
  const urls = (): string[] => [
    `http://127.0.0.1:${innerPort}/`,
    `http://localhost:${innerPort}/`,
    `http://[::ffff:127.0.0.1]:${innerPort}/`,
    `http://127.0.0.1:${proxy.port}/`,
    `http://localhost:${proxy.port}/`,
    'http://169.254.169.254/',
  ];

  it('leads no component to this machine', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `async run(event) {
        const results = [];
        for (const url of event.body) results.push(await fetch(url).then(() => 'answered', (e) => e.message + ' ' + e.cause?.message));
        this.http.respond({ status: 200, body: results });
      },`,
    });
    const answer = await instance.post(await instance.deploy(code), urls());
    const results = JSON.parse(answer.text) as string[];
    expect(results).toHaveLength(urls().length);
    for (const text of results) expect(text).toContain('not allowed');
    expect([hits, proxy.asked]).toEqual([0, []]);
  });

  it('leads no delivery and no fetched component to this machine', async () => {
    const source = await instance.deploy(relayCode());
    for (const url of urls()) {
      const { data } = await api.expect<{ data: { id: string } }>(200, 'POST', '/v1/webhooks', { query: { url } });
      await api.subscribe(source.id, data.id);
      await instance.post(source, { any: 1 });
      const [attempt] = await eventually(`an attempt of ${data.id}`, async () => {
        const path = `/v1/webhooks/${data.id}/deliveries`;
        const { data: attempts } = await api.expect<{ data: object[] }>(200, 'GET', path);
        return attempts.length > 0 ? attempts : undefined;
      });
      expect(JSON.stringify(attempt)).toContain('EGRESS_REFUSED');
      const reply = await api.call('POST', '/v1/components', { body: { component_url: url } });
      expect(reply.status).toBe(422);
      expect(reply.text).not.toContain('proxy-secret');
    }
    expect([hits, proxy.asked]).toEqual([0, []]);
  });
});

describe('the own port of an outgoing proxy whose network the operator allows', () => {
  const instance = useInstance({ env: { HTTPS_PROXY: PROXY, SLUICE_EGRESS_ALLOW: '127.0.0.0/8' } });

  it('is closed to components, which could ask it for any address, and the rest of the network is not', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `async run(event) {
        const results = [];
        for (const url of event.body) results.push(await fetch(url).then((r) => r.text(), (e) => e.message + ' ' + e.cause?.message));
        this.http.respond({ status: 200, body: results });
      },`,
    });
    const given = [
      `http://127.0.0.1:${proxy.port}/`,
      `http://127.7.7.7:${proxy.port}/`,
      `http://127.0.0.1:${innerPort}/`,
    ];
    const answer = await instance.post(await instance.deploy(code), given);
    const results = JSON.parse(answer.text) as string[];
    expect(results.map((text) => /not allowed\. Name the host/.test(text))).toEqual([true, true, false]);
    expect(results[2]).toBe('export default {}');
    expect(proxy.asked).toEqual([`127.0.0.1:${innerPort}`]);
  });
});
