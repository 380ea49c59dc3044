import { describe, expect, it } from '@jest/globals';
import { ApiClient, endpointOf, type ErrorBody } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP, relayCode } from '#test/harness/component-code.js';
import { jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';

describe('rate limits', () => {
  const instance = useInstance({
    env: { SLUICE_ENDPOINT_RATE: '1', SLUICE_API_RATE: '60' },
  });

  // docs/reference/rest-api.md#endpoint-refusals
  it('of an endpoint answer 429 with Retry-After above the burst, and take no event', async () => {
    const source = await instance.deploy(relayCode());
    const answers = await Promise.all(Array.from({ length: 90 }, (_, n) => instance.post(source, { n })));
    const taken = answers.filter(({ status }) => status === 200).length;
    expect(taken).toBeGreaterThanOrEqual(50);
    expect(taken).toBeLessThan(90);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      const { status, headers } = answer;
      expect(status).toBe(429);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': '0' });
      expect(jsonOf(answer)).toMatchObject({
        code: 'rate_limited',
        error: expect.stringMatching(/more than 1 requests a second .*50 at once.*wait \d+ s.*SLUICE_ENDPOINT_RATE/),
      });
    }
    expect(await instance.payloads(source, taken)).toHaveLength(taken);
    const other = await instance.deploy(relayCode());
    expect((await instance.post(other, {})).status).toBe(200);
  });

  // docs/reference/rest-api.md#rate-limit
  it('of a key answer 429 with Retry-After and X-RateLimit-*', async () => {
    const replies = await Promise.all(Array.from({ length: 160 }, () => instance.api.call('GET', '/v1/users/me')));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(10);
    expect(replies.filter(({ status }) => status !== 429 && status !== 200)).toEqual([]);
    for (const { headers, body } of refused) {
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0' });
      expect(headers['x-ratelimit-reset']).toMatch(/^\d+$/);
      expect(body).toMatchObject({
        code: 'rate_limited',
        error: expect.stringMatching(/60 .*100 at once.*SLUICE_API_RATE/),
      });
    }
  });

  it('are off unless they are set', async () => {
    const server = new Server({
      env: { SLUICE_ENDPOINT_RATE: undefined, SLUICE_API_RATE: undefined },
    });
    await server.start();
    const api = new ApiClient(server);
    try {
      const source = await api.createSource({ component_code: relayCode() });
      const url = endpointOf(server, source);
      const events = await Promise.all(Array.from({ length: 200 }, (_, n) => send(url, { body: { n } })));
      expect(new Set(events.map(({ status }) => status))).toEqual(new Set([200]));
      const reads = await Promise.all(Array.from({ length: 200 }, () => api.call('GET', '/v1/users/me')));
      expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
      for (const { headers } of [...events, ...reads]) expect(headers).not.toHaveProperty('x-ratelimit-limit');
    } finally {
      await api.close();
      await server.stop();
    }
  }, 60_000);
});

describe('the egress guard, without an exception', () => {
  const instance = useInstance({ env: { SLUICE_EGRESS_ALLOW: undefined } });
  const blocked = [
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'http://[::1]:1/',
    'http://2130706433/',
    'http://[::ffff:127.0.0.1]/',
  ];

  it('lets no component reach a private address, by any spelling', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `async run(event) {
        const results = {};
        for (const url of event.body) results[url] = await fetch(url).then((r) => 'answered ' + r.status, () => 'refused');
        this.http.respond({ status: 200, body: results });
      },`,
    });
    const urls = [...blocked, `${instance.server.url}/healthz`, instance.receiver.url];
    const results = jsonOf(await instance.post(await instance.deploy(code), urls));
    expect(results).toEqual(Object.fromEntries(urls.map((url) => [url, 'refused'])));
    expect(instance.receiver.received).toEqual([]);
  });

  it('delivers to no private address', async () => {
    const source = await instance.deploy(relayCode());
    const made = await instance.api.call<{ data: { id: string } }>('POST', '/v1/webhooks', {
      query: { url: instance.receiver.url },
    });
    if (made.status === 200) {
      await instance.api.subscribe(source.id, made.body.data.id);
      await instance.post(source, { n: 1 });
      await eventually('an attempt on record', async () => {
        const reply = await instance.api.call<{ data: unknown[] }>(
          'GET',
          `/v1/webhooks/${made.body.data.id}/deliveries`,
        );
        return reply.body.data.length > 0 ? true : undefined;
      });
    } else {
      expect(made).toMatchObject({ status: 400, body: { code: 'invalid_url' } });
    }
    expect(instance.receiver.received).toEqual([]);
  });

  it('fetches no component from a private address', async () => {
    for (const component_url of [instance.receiver.url, ...blocked]) {
      const reply = await instance.api.call<ErrorBody>('POST', '/v1/components', { body: { component_url } });
      expect([400, 422]).toContain(reply.status);
    }
    expect(instance.receiver.received).toEqual([]);
  });
});

describe('a wrong setting', () => {
  it.each([
    ['SLUICE_PORT', 'many'],
    ['SLUICE_ISOLATION', 'wishful'],
    ['SLUICE_EGRESS_ALLOW', '127.0.0.1/99'],
    ['SLUICE_API_KEY', 'short'],
  ])('%s=%s is refused at the start by name', async (name, value) => {
    const server = new Server({ env: { [name]: value } });
    await expect(server.start()).rejects.toThrow(name);
    await server.close();
  });

  it('is refused together with all the others', async () => {
    const server = new Server({ env: { SLUICE_PORT: 'many', SLUICE_MEMORY_MB: '1' } });
    await expect(server.start()).rejects.toThrow(/SLUICE_PORT[\s\S]*SLUICE_MEMORY_MB/);
    await server.close();
  });
});
