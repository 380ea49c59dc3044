import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { positionOf, type Position } from '#libs/kernel/events.js';
import { Changed } from './changed.js';
import { TrustedProxies } from './client-address.js';
import { httpTestApp, TEST_KEY, type HttpTestAppOptions } from './testing/http-test-app.js';
import { errorOf } from './testing/replies.js';

@Controller('v1/things')
class ThingsController {
  @Get()
  list(): object {
    return { data: [] };
  }

  @Post('command')
  @HttpCode(200)
  command(): Changed<object> {
    return new Changed(positionOf(7), { data: { id: 'a' } });
  }
}

const bearer = { Authorization: `Bearer ${TEST_KEY}` };

describe('the HTTP edge with settings', () => {
  let app: NestExpressApplication | undefined;
  const start = async (options: HttpTestAppOptions) => {
    app = await httpTestApp({ controllers: [ThingsController], ...options });
    const server: unknown = app.getHttpServer();
    return request(server as Parameters<typeof request>[0]);
  };
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  // docs/reference/rest-api.md#rate-limit
  it('limits the requests of a user over all keys, and says when to retry', async () => {
    let now = 1_000_000;
    const options = { http: { requestsPerMinute: 60, burst: 2 }, now: () => now };
    const http = await start({
      ...options,
      callers: {
        one: { userId: 'u_1', apiKeyId: 'key_1', workspaceIds: ['o_1'] },
        two: { userId: 'u_1', apiKeyId: 'key_2', workspaceIds: ['o_1'] },
        other: { userId: 'u_2', apiKeyId: 'key_3', workspaceIds: ['o_1'] },
      },
    });
    const ask = async (key: string) => await http.get('/v1/things').set('Authorization', `Bearer ${key}`);

    const first = await ask('one');
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '1001',
    });
    expect((await ask('two')).status).toBe(200);
    const third = await ask('one');
    expect([
      third.status,
      errorOf(third).code,
      third.headers['retry-after'],
      third.headers['x-ratelimit-remaining'],
    ]).toEqual([429, 'rate_limited', '1', '0']);
    // The same number as in X-RateLimit-Limit.
    expect(errorOf(third).details).toEqual({ limit: 2, per_minute: 60, retry_after: 1, setting: 'SLUICE_API_RATE' });
    expect((await ask('other')).status).toBe(200);
    now += 1000;
    expect((await ask('one')).status).toBe(200);
    expect((await ask('two')).status).toBe(429);
  });

  describe('wrong keys', () => {
    const wrong = async (http: Awaited<ReturnType<typeof start>>, count: number, address: string) => {
      const statuses: number[] = [];
      for (let i = 0; i < count; i++) {
        const headers = { Authorization: `Bearer guess-${i}`, 'X-Forwarded-For': address };
        statuses.push((await http.get('/v1/things').set(headers)).status);
      }
      return statuses;
    };
    const times = (count: number, status: number) => Array.from({ length: count }, () => status);

    // docs/reference/rest-api.md#wrong-keys
    it('are limited per address, while a right key from the same address is accepted', async () => {
      let now = 1_000_000;
      const http = await start({ http: { proxies: new TrustedProxies(['127.0.0.1']) }, now: () => now });
      expect(await wrong(http, 52, '203.0.113.7')).toEqual([...times(50, 401), 429, 429]);
      const refused = await http.get('/v1/things').set({ Authorization: 'Bearer x', 'X-Forwarded-For': '203.0.113.7' });
      expect([errorOf(refused).code, refused.headers['retry-after']]).toEqual(['rate_limited', '3']);
      expect((await http.get('/v1/things').set({ ...bearer, 'X-Forwarded-For': '203.0.113.7' })).status).toBe(200);
      // Control: another address has its own count.
      expect(await wrong(http, 1, '203.0.113.8')).toEqual([401]);
      now += 3_000;
      expect(await wrong(http, 2, '203.0.113.7')).toEqual([401, 429]);
    });

    it("are counted for the client's real address, not for one that it claims", async () => {
      const http = await start({});
      expect(await wrong(http, 50, '203.0.113.7')).toEqual(times(50, 401));
      expect(await wrong(http, 1, '203.0.113.8')).toEqual([429]);
    });

    it('count only when a key was presented', async () => {
      const http = await start({});
      for (let i = 0; i < 55; i++) expect((await http.get('/v1/things')).status).toBe(401);
      expect(await wrong(http, 1, '')).toEqual([401]);
    });

    it('are not hashed when they are too long for a key', async () => {
      const asked: string[] = [];
      const callers = { callerOf: (hash: string) => void asked.push(hash) };
      const http = await start({ http: { callers } });
      expect((await http.get('/v1/things').set('Authorization', `Bearer ${'x'.repeat(513)}`)).status).toBe(401);
      expect(asked).toEqual([]);
      expect((await http.get('/v1/things').set('Authorization', `Bearer ${'x'.repeat(512)}`)).status).toBe(401);
      expect(asked.length).toBeGreaterThan(0);
    });
  });

  // docs/reference/rest-api.md#position-header #read-your-writes
  it('puts the position on a command and waits for the read models', async () => {
    const waited: [Position, number][] = [];
    const readModels = { waitFor: async (position: Position, ms: number) => waited.push([position, ms]) > 1 };
    const http = await start({
      http: { readYourWrites: readModels, appliedTimeoutMs: 50 },
    });
    const late = await http.post('/v1/things/command').set(bearer);
    expect([late.status, errorOf(late).code, late.headers['retry-after'], late.headers['x-sluice-position']]).toEqual([
      503,
      'not_caught_up',
      '1',
      positionOf(7),
    ]);
    const done = await http.post('/v1/things/command').set(bearer);
    expect([done.status, done.headers['x-sluice-position']]).toEqual([200, positionOf(7)]);
    expect(waited).toEqual([
      [positionOf(7), 50],
      [positionOf(7), 50],
    ]);
  });

  // docs/reference/rest-api.md#position-wait
  it.each([
    [positionOf(5), 200],
    [positionOf(6), 503],
    ['6', 400],
  ])('answers a read that carries position %s with %i', async (position, status) => {
    const readModels = { waitFor: async (wanted: Position) => wanted <= positionOf(5) };
    const http = await start({ http: { readYourWrites: readModels } });
    const reply = await http.get('/v1/things').set(bearer).set('X-Sluice-Position', position);
    expect(reply.status).toBe(status);
  });

  // docs/reference/rest-api.md#api-halves
  it.each([
    ['commands', 'get', 421, /query-api/],
    ['commands', 'head', 421, undefined],
    ['commands', 'post', 200, undefined],
    ['queries', 'get', 200, undefined],
    ['queries', 'post', 421, /command-api/],
  ] as const)('serves %s: %s is answered %i', async (serves, method, status, text) => {
    const http = await start({ configure: { serves } });
    const reply = await http[method](method === 'post' ? '/v1/things/command' : '/v1/things').set(bearer);
    expect(reply.status).toBe(status);
    if (text) expect(errorOf(reply)).toMatchObject({ code: 'misdirected', error: expect.stringMatching(text) });
  });

  // docs/reference/rest-api.md#cors
  it('allows the origins of the list only', async () => {
    const http = await start({ configure: { corsOrigins: ['https://app.example'] } });
    const from = async (origin: string) => (await http.get('/v1/things').set(bearer).set('Origin', origin)).headers;
    expect((await from('https://app.example'))['access-control-allow-origin']).toBe('https://app.example');
    expect(await from('https://evil.example')).not.toHaveProperty('access-control-allow-origin');
    const preflight = await http
      .options('/v1/things')
      .set('Origin', 'https://app.example')
      .set('Access-Control-Request-Method', 'POST');
    expect(preflight.status).toBe(204);
  });

  // docs/reference/rest-api.md#shutting-down
  it('refuses work while it shuts down', async () => {
    const http = await start({ configure: { shuttingDown: () => true } });
    const reply = await http.get('/v1/things').set(bearer);
    expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([503, 'shutting_down', '5']);
  });
});
