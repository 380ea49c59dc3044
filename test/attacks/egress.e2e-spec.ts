import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { request } from 'undici';
import { componentCode, CUSTOM_HTTP, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

/** All addresses of this machine. Link-local ones need a zone, which URLs do not carry. */
const OWN = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .map(({ address }) => address)
  .filter((address) => !address.startsWith('fe80'));

/** Text hidden from users, besides addresses that they did not write: facts that only this machine reveals. */
const OF_THIS_MACHINE = /this machine/i;

describe('the addresses of the machine itself', () => {
  const instance = useInstance({ env: { SLUICE_EGRESS_ALLOW: undefined } });
  const { api } = instance;
  let inner: Server;
  let hits = 0;
  let urls: string[];

  beforeAll(async () => {
    inner = createServer((_, response) => {
      hits++;
      response.end('export default {}');
    }).listen(0, '127.0.0.1');
    await once(inner, 'listening');
    const { port } = inner.address() as AddressInfo;
    urls = [...OWN.map((one) => (isIPv6(one) ? `[${one}]` : one)), 'localhost'].map(
      (host) => `http://${host}:${port}/`,
    );
    // Control: without the guard each address leads to this machine and answers.
    const reached = (url: string): Promise<string> =>
      request(url).then(
        ({ statusCode }) => String(statusCode),
        (error: Error & { code?: string }) => `${error.code ?? ''} ${error.message}`,
      );
    for (const url of urls) expect(await reached(url)).toMatch(/^200$|^ECONNREFUSED/);
    expect(hits).toBeGreaterThan(0);
    hits = 0;
  });
  afterAll(() => new Promise((resolve) => inner.close(resolve)));

  const expectNothingSaid = (text: string, url: string): void => {
    expect(text).toContain('not allowed');
    expect(text).not.toMatch(OF_THIS_MACHINE);
    const others = OWN.filter((address) => !url.includes(address));
    expect(others.filter((address) => text.includes(address))).toEqual([]);
  };

  it('answer no component, and errors do not name them', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `async run(event) {
        const results = [];
        for (const url of event.body) results.push(await fetch(url).then(() => 'answered', (e) => e.message + ' ' + e.cause?.message));
        this.http.respond({ status: 200, body: results });
      },`,
    });
    const answer = await instance.post(await instance.deploy(code), urls);
    const results = JSON.parse(answer.text) as string[];
    expect(results).toHaveLength(urls.length);
    results.forEach((text, index) => expectNothingSaid(text, urls[index] ?? ''));
    expect(hits).toBe(0);
  });

  it('get no delivery, and attempts do not name them', async () => {
    const source = await instance.deploy(relayCode());
    const webhooks: { id: string; url: string }[] = [];
    for (const url of urls) {
      const made = await api.call<{ data: { id: string } }>('POST', '/v1/webhooks', { query: { url } });
      if (made.status !== 200) expectNothingSaid(made.text, url);
      else webhooks.push({ id: made.body.data.id, url });
    }
    for (const { id } of webhooks) await api.subscribe(source.id, id);
    await instance.post(source, { any: 1 });
    for (const { id, url } of webhooks) {
      const [attempt] = await eventually(`an attempt of ${id}`, async () => {
        const { data } = await api.expect<{ data: Record<string, unknown>[] }>(
          200,
          'GET',
          `/v1/webhooks/${id}/deliveries`,
        );
        return data.length > 0 ? data : undefined;
      });
      expectNothingSaid(JSON.stringify(attempt), url);
    }
    expect(hits).toBe(0);
  });

  it('cannot be fetched through component_url, and the answer does not name them', async () => {
    for (const url of urls) {
      const reply = await api.call('POST', '/v1/components', { body: { component_url: url } });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.status).toBeLessThan(500);
      expectNothingSaid(reply.text, url);
    }
    expect(hits).toBe(0);
  });
});

describe('the metrics of egress', () => {
  const instance = useInstance();
  const { api } = instance;

  it('count the connections and bytes of each source', async () => {
    const server = createServer((_, response) => void response.end('x'.repeat(5_000))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      const code = componentCode({
        props: CUSTOM_HTTP,
        members: `async run(event) {
          for (const url of event.body) await fetch(url, { headers: { connection: 'close' } }).then((r) => r.text(), () => {});
          this.http.respond({ status: 200 });
        },`,
      });
      const source = await instance.deploy(code);
      await instance.post(source, [url, url, 'http://169.254.169.254/']);
      const metric = async (name: string): Promise<number> => {
        const { text } = await api.call('GET', '/metrics', { key: null });
        return Number(new RegExp(`^${name}\\{source="${source.id}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
      };
      await eventually('three connections', async () => (await metric('sluice_egress_connections')) === 3 || undefined);
      expect(await metric('sluice_egress_failed')).toBe(1);
      expect(await metric('sluice_egress_received_bytes')).toBeGreaterThan(10_000);
      expect(await metric('sluice_egress_sent_bytes')).toBeGreaterThan(50);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
