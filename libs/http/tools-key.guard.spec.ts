import { Controller, Get, Post, HttpCode } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { KeyOptional, OpenToAll, OpenToToolsKeys, TokenInQuery } from './access.js';
import { CurrentCaller } from './caller.js';
import { type Caller } from './callers.js';
import { httpTestApp, TEST_CALLER } from './testing/http-test-app.js';
import { errorOf } from './testing/replies.js';
import { ReadsByPost, WritesOwn } from './writes.guard.js';

/** Each form of a route that the other guards know. */
@Controller('v1/things')
class ThingsController {
  static reached = 0;

  @Get()
  list(): object {
    return this.reach();
  }

  @Post()
  @HttpCode(200)
  make(): object {
    return this.reach();
  }

  @Post('own')
  @WritesOwn()
  @HttpCode(200)
  own(): object {
    return this.reach();
  }

  @Post('check')
  @ReadsByPost()
  @HttpCode(200)
  check(): object {
    return this.reach();
  }

  @Get('stream')
  @TokenInQuery()
  @KeyOptional()
  stream(): object {
    return this.reach();
  }

  @Get('open')
  @OpenToAll()
  open(): object {
    return { data: 'open' };
  }

  private reach(): object {
    ThingsController.reached++;
    return { data: {} };
  }
}

@Controller('tools')
class ToolsController {
  @Get()
  @OpenToToolsKeys()
  list(@CurrentCaller() { tools }: Caller): object {
    return { data: tools ? [...tools] : 'all' };
  }
}

const callers: Readonly<Record<string, Caller>> = {
  full: TEST_CALLER,
  tools: { ...TEST_CALLER, tools: new Set(['send_mail']) },
  // Not a key that is made today: no tool at all must not count as every tool.
  none: { ...TEST_CALLER, tools: new Set() },
  reader: { ...TEST_CALLER, tools: new Set(['send_mail']), isReadOnly: true },
};

// docs/reference/rest-api.md#api-key-tools
describe('a key for tools only', () => {
  let app: NestExpressApplication;
  const http = () => request(app.getHttpServer());
  const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController, ToolsController], callers });
  });
  afterAll(() => app.close());

  const CLOSED = [
    ['get', '/v1/things'],
    ['post', '/v1/things'],
    ['post', '/v1/things/own'],
    ['post', '/v1/things/check'],
    ['get', '/v1/things/stream'],
    ['get', '/v1/things?workspace_id=o_9'],
  ] as const;

  it.each(['tools', 'none', 'reader'].flatMap((key) => CLOSED.map(([method, path]) => [key, method, path] as const)))(
    'of the caller %s is refused by %s %s, before the route',
    async (key, method, path) => {
      const before = ThingsController.reached;
      const reply = await http()[method](path).set(bearer(key));
      expect(errorOf(reply)).toEqual({
        status: 403,
        code: 'tools_only_key',
        error: 'this API key opens its tools at POST /mcp and nothing else: send a key without tools',
        details: { api_key_id: 'key_1' },
      });
      expect(ThingsController.reached).toBe(before);
    },
  );

  it('is refused in the query of a stream', async () => {
    const reply = await http().get('/v1/things/stream?access_token=tools');
    expect(errorOf(reply)).toMatchObject({ status: 403, code: 'tools_only_key' });
    expect((await http().get('/v1/things/stream')).status).toBe(200);
  });

  it('opens a marked route, which learns what it may call', async () => {
    expect((await http().get('/tools').set(bearer('tools'))).body).toEqual({ data: ['send_mail'] });
    expect((await http().get('/tools').set(bearer('none'))).body).toEqual({ data: [] });
    expect((await http().get('/tools').set(bearer('full'))).body).toEqual({ data: 'all' });
    expect((await http().get('/tools')).status).toBe(401);
  });

  it('changes nothing for other keys, and for routes that read no key', async () => {
    for (const [method, path] of CLOSED.slice(0, -1))
      expect((await http()[method](path).set(bearer('full'))).status).toBe(200);
    expect((await http().get('/v1/things/open').set(bearer('tools'))).status).toBe(200);
  });

  it('counts towards the rate of its user', async () => {
    const limited = await httpTestApp({
      controllers: [ThingsController],
      callers,
      http: { requestsPerMinute: 1, burst: 1 },
    });
    try {
      const call = () => request(limited.getHttpServer()).get('/v1/things').set(bearer('tools'));
      expect((await call()).status).toBe(403);
      expect((await call()).status).toBe(429);
    } finally {
      await limited.close();
    }
  });
});
