import { afterEach, describe, expect, it } from '@jest/globals';
import { bodyRangeOf } from '#libs/component-model/http-event.js';
import { TrustedProxies } from '#libs/http/client-address.js';
import { type Refusal } from '#libs/stream-log/refusal.js';
import { type Admission, type Arrival, refusing } from './admission.js';
import { type IngressDependencies } from './ingress.js';
import { RateLimit } from './rate-limit.js';
import { ingressWorld } from './testing/ingress-world.js';

const worlds: Awaited<ReturnType<typeof ingressWorld>>[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ close }) => close()));
});

const setUp = async (over: Partial<IngressDependencies> = {}) => {
  const world = await ingressWorld(over);
  worlds.push(world);
  return world;
};

describe('ingress', () => {
  it('answers once the invocation is durable, and passes the path below the endpoint', async () => {
    const t = await setUp();
    const answer = await t.call('PUT', '/h/ehook/a/b?x=1', { body: 'hi', headers: { 'content-type': 'text/plain' } });
    expect(answer).toMatchObject({ status: 200, body: '{"success":true}' });
    expect(t.published).toHaveLength(1);
    expect(t.published[0]).toMatchObject({
      topic: 'invocations.dc_1',
      key: 'dc_1',
      headers: { kind: 'http', source: 'dc_1', workspace: 'o_1', respond: '' },
    });
    expect(JSON.parse(t.published[0]?.value ?? '')).toMatchObject({
      method: 'PUT',
      path: '/a/b',
      query: { x: '1' },
      body: 'hi',
    });
  });

  it('stores a JSON body once while every process reads that, and says where it is', async () => {
    const t = await setUp();
    const body = '{"text": "é\\n"}';
    const stored = async (headers: Record<string, string> = {}): Promise<readonly [string | undefined, string]> => {
      await t.call('POST', '/h/ehook', { body, headers });
      const { headers: of = {}, value = '' } = t.published.at(-1) ?? {};
      return [of['body'], value];
    };
    const [range, once] = await stored();
    const { start, end } = bodyRangeOf(once, range) ?? {};
    expect(once.slice(start, end)).toBe(body);
    expect(once.split('"text').length).toBe(2);

    // Nothing runs a test event, so it is stored whole.
    const [noRange, testEvent] = await stored({ 'x-pd-notrigger': '1' });
    const whole = JSON.parse(testEvent) as { bodyRaw: string; body: object };
    expect([noRange, whole.bodyRaw, whole.body]).toEqual([undefined, body, { text: 'é\n' }]);
  });

  it('answers 429 with the reason when the source has too much unread, and stores nothing', async () => {
    let refused = true;
    const full = ({ sourceId, workspaceId }: Arrival): Refusal | undefined =>
      refused
        ? { status: 429, code: 'unread_limit', retryAfterS: 7, text: `${sourceId} of ${workspaceId} is full` }
        : undefined;
    const t = await setUp({ admission: refusing(full) });
    const answer = await t.call('POST', '/h/ehook', { body: '{}' });
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
    expect(JSON.parse(answer.body)).toEqual({ error: 'dc_1 of o_1 is full', code: 'unread_limit' });
    expect(t.published).toEqual([]);
    refused = false;
    expect((await t.call('POST', '/h/ehook', { body: '{}' })).status).toBe(200);
  });

  it('answers 413 with both numbers for a body that is within its limit and whose event is not', async () => {
    const t = await setUp({ maxBodyBytes: 2 << 20 });
    // JSON writes each of these bytes as six, and the event has them twice.
    const answer = await t.call('POST', '/h/ehook', {
      body: '\u0001'.repeat(1 << 20),
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'too_large',
      error: expect.stringMatching(/is 12583\d{3} bytes .* the limit is 7340032$/),
    });
    expect(t.published).toEqual([]);
  });

  it.each([
    ['a trusted proxy', ['127.0.0.1'], '203.0.113.7', 'https://public.example/h/ehook/a?b=1'],
    ['anyone else', [], '127.0.0.1', 'http://own.example/h/ehook/a?b=1'],
  ])('takes the client that %s names', async (_name, trusted, address, url) => {
    const t = await setUp({ proxies: new TrustedProxies(trusted) });
    const headers = {
      host: 'own.example',
      'x-forwarded-for': '1.1.1.1, 203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'public.example',
    };
    await t.call('POST', '/h/ehook/a?b=1', { headers });
    expect(JSON.parse(t.published[0]?.value ?? '')).toMatchObject({ client_ip: address, url, headers });
  });

  it('leaves other paths to the API', async () => {
    expect((await (await setUp()).call('GET', '/v1/users/me')).status).toBe(418);
  });

  // docs/reference/rest-api.md#endpoint-addresses
  it('matches the wildcard host', async () => {
    const t = await setUp({ domain: 'hooks.example' });
    expect((await t.call('GET', '/x', { headers: { host: 'ehook.hooks.example:80' } })).status).toBe(200);
    expect(JSON.parse(t.published[0]?.value ?? '')).toMatchObject({ path: '/x' });
    expect((await t.call('GET', '/x', { headers: { host: 'hooks.example' } })).status).toBe(418);
  });

  it('answers 404 for an unknown endpoint, and for a source deleted before the publish', async () => {
    const t = await setUp();
    expect((await t.call('GET', '/h/enone')).status).toBe(404);
    t.world.publish = () => null;
    expect((await t.call('GET', '/h/ehook')).status).toBe(404);
  });

  it('answers 503 and acknowledges nothing when the log cannot write', async () => {
    const t = await setUp();
    t.world.publish = () => {
      throw new Error('disk is full');
    };
    const answer = await t.call('POST', '/h/ehook', { body: 'x' });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
  });

  it('asks admission by source and workspace, passes its refusal on, and reports when the event is stored', async () => {
    const asked: unknown[] = [];
    const left: unknown[] = [];
    const text = 'source dc_1 takes no more events for the moment';
    let refusal: Refusal | undefined = { status: 429, code: 'overloaded', text, retryAfterS: 3 };
    const admission: Admission = {
      enter: (arrival) => {
        asked.push(arrival);
        return Promise.resolve(refusal);
      },
      left: (arrival) => void left.push(arrival),
    };
    const t = await setUp({ admission });
    const answer = await t.call('POST', '/h/ehook', { body: 'four', headers: { 'content-length': '4' } });
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
    expect(JSON.parse(answer.body)).toEqual({ error: text, code: 'overloaded' });
    expect([t.published, left]).toEqual([[], []]);

    refusal = undefined;
    expect((await t.call('POST', '/h/ehook', { body: 'x'.repeat(101) })).status).toBe(413);
    expect((await t.call('POST', '/h/ehook', { body: 'four', headers: { 'content-length': '4' } })).status).toBe(200);
    expect(asked[0]).toEqual({ sourceId: 'dc_1', workspaceId: 'o_1', bytes: 4 });
    expect(left).toEqual(asked.slice(1));
  });

  it.each([
    ['declared', { 'content-length': '101' }, '101'],
    ['found while reading', { 'transfer-encoding': 'chunked' }, 'at least 101'],
  ])('refuses a body above the limit, naming both sizes (%s)', async (_name, headers, size) => {
    const answer = await (await setUp()).call('POST', '/h/ehook', { body: 'x'.repeat(101), headers });
    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.body)).toEqual({
      error: `body of ${size} bytes is above the limit of 100 bytes`,
      code: 'too_large',
    });
  });

  it('limits the rate per endpoint', async () => {
    const t = await setUp({ rate: new RateLimit(1, 2), replyTimeoutMs: 5 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await t.call('GET', '/h/ehook')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await t.call('GET', '/h/ecustom')).status).toBe(504);
  });

  it.each([
    ['header x-pd-upload-body', '/h/ehook', { 'x-pd-upload-body': '1' }],
    ['query parameter pipedream_upload_body', '/h/ehook?a=1&pipedream_upload_body=1', {}],
  ])('refuses %s, because it would do otherwise', async (name, path, headers) => {
    const t = await setUp();
    const answer = await t.call('POST', path, { body: '{}', headers });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toEqual({
      code: 'not_supported',
      error: expect.stringMatching(new RegExp(`^${name} is not supported yet`)),
    });
    expect(t.published).toEqual([]);
    expect((await t.call('POST', '/h/ehook?b=pipedream_upload_body', { body: '{}' })).status).toBe(200);
  });

  it.each([
    ['x-pd-nostore', '1', { kind: 'http', nostore: '1' }],
    ['x-pd-nostore', '', { kind: 'http', nostore: '1' }],
    ['x-pd-notrigger', 'true', { kind: 'delayed', channel: '', test: '1', notrigger: '1' }],
  ])('marks the invocation of a request with %s: %j', async (header, value, marks) => {
    const t = await setUp();
    expect((await t.call('POST', '/h/ehook', { body: '{}', headers: { [header]: value } })).status).toBe(200);
    expect(t.published.map(({ headers }) => headers)).toEqual([expect.objectContaining(marks)]);
  });

  // docs/reference/rest-api.md#endpoint-switches
  it('takes a switch that is 0 or false as off, and refuses both switches at once', async () => {
    const t = await setUp();
    const off = { 'x-pd-nostore': '0', 'x-pd-notrigger': 'false' };
    expect((await t.call('POST', '/h/ehook', { body: '{}', headers: off })).status).toBe(200);
    expect(t.published[0]?.headers).toMatchObject({ kind: 'http' });
    expect(t.published[0]?.headers).not.toHaveProperty('nostore');
    const both = { 'x-pd-nostore': '1', 'x-pd-notrigger': '1' };
    const answer = await t.call('POST', '/h/ehook', { body: '{}', headers: both });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_parameter', error: expect.stringContaining('send one of them') }),
    ]);
    expect(t.published).toHaveLength(1);
  });

  it('answers a test event at once, also where the component would answer', async () => {
    const t = await setUp();
    const answer = await t.call('POST', '/h/ecustom', { body: '{}', headers: { 'x-pd-notrigger': '1' } });
    expect(answer).toMatchObject({ status: 200, body: '{"success":true}' });
    expect(t.published[0]?.headers).toMatchObject({ kind: 'delayed', respond: '' });
  });

  // docs/reference/rest-api.md#endpoint-options
  it('answers OPTIONS of an unknown endpoint 404, so that a wrong address shows', async () => {
    const answer = await (await setUp()).call('OPTIONS', '/h/enothing');
    expect(answer).toMatchObject({ status: 404, headers: { 'access-control-allow-origin': '*' } });
  });

  it('answers OPTIONS itself', async () => {
    const t = await setUp();
    const answer = await t.call('OPTIONS', '/h/ehook');
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, PUT, PATCH, POST, DELETE');
    // A browser takes `*` for every header but this one.
    expect(answer.headers['access-control-allow-headers']).toBe('*, authorization');
    expect(t.published).toHaveLength(0);
  });

  describe('with customResponse', () => {
    const respond = async (
      reply: { status: number; headers?: Record<string, string>; body?: string; base64?: boolean },
      method = 'POST',
    ) => {
      const t = await setUp();
      const answer = t.call(method, '/h/ecustom');
      while (t.published.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const { id = '', respond: address = '' } = t.published[0]?.headers ?? {};
      t.relay.immediate(address, id, { headers: {}, body: '', base64: false, ...reply });
      return answer;
    };

    it('sends what the component responds', async () => {
      const answer = await respond({
        status: 201,
        headers: { 'x-a': 'b', connection: 'upgrade' },
        body: 'aGk=',
        base64: true,
      });
      expect(answer).toMatchObject({ status: 201, body: 'hi' });
      expect(answer.headers['x-a']).toBe('b');
      expect(answer.headers['connection']).not.toBe('upgrade');
    });

    it('sends headers only for HEAD', async () => {
      const answer = await respond({ status: 200, body: 'hidden' }, 'HEAD');
      expect(answer).toMatchObject({ status: 200, body: '' });
      expect(answer.headers['content-length']).toBe('6');
    });

    it('reports a header that HTTP does not allow', async () => {
      const answer = await respond({ status: 200, headers: { 'bad header': 'x' } });
      expect(answer.status).toBe(500);
      expect(answer.body).toContain('bad header');
    });

    // docs/reference/rest-api.md#endpoint-custom-response
    it('answers 504 when no response comes in time', async () => {
      const t = await setUp({ replyTimeoutMs: 5 });
      expect((await t.call('POST', '/h/ecustom')).status).toBe(504);
    });
  });
});

describe('rate limit', () => {
  it('allows the burst, then the average, per key; 0 means no limit', () => {
    const limit = new RateLimit(10, 2);
    expect([limit.consume('a', 0), limit.consume('a', 0)]).toEqual([undefined, undefined]);
    expect(limit.consume('a', 0)).toEqual({
      text: 'more than 10 requests a second to this endpoint (2 at once): wait 1 s. SLUICE_ENDPOINT_RATE sets this limit',
      headers: {
        'Retry-After': '1',
        'X-RateLimit-Limit': '2',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': '1',
      },
    });
    expect(limit.consume('b', 0)).toBeUndefined();
    expect(limit.consume('a', 100)).toBeUndefined();
    const off = new RateLimit(0, 0);
    for (let n = 0; n < 1_000; n++) expect(off.consume('a', 0)).toBeUndefined();
  });
});
