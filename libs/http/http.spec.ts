import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { DomainError } from '#libs/kernel/domain-error.js';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { UnknownCursor } from '#libs/kernel/read-model-store.js';
import { OpenToAll, TokenInQuery } from './access.js';
import { CurrentCaller } from './caller.js';
import { Context, type ContextIn } from './command-context.js';
import { httpTestApp, TEST_KEY } from './testing/http-test-app.js';
import { dataOf, errorOf } from './testing/replies.js';
import { type Caller } from './callers.js';

@Controller('v1/things')
class ThingsController {
  @Get()
  list(): object {
    return {
      page_info: { count: 2 },
      data: [
        { id: 'a', name: 'A', size: 1 },
        { id: 'b', name: 'B', size: 2 },
      ],
    };
  }

  @Get(':id')
  one(@Param('id') id: string, @Query() query: object): object {
    return { data: { id, query } };
  }

  @Get(':id/$errors/event_summaries')
  errors(@Param('id') id: string): object {
    return { data: { errorsOf: id } };
  }

  @Get(':id/stream')
  @TokenInQuery()
  stream(@CurrentCaller() caller: Caller): object {
    return { data: { userId: caller.userId } };
  }

  @Get('of/context')
  context(@Context() contextIn: ContextIn): object {
    return { data: contextIn('o_1') };
  }

  @Get('open/door')
  @OpenToAll()
  open(): object {
    return { data: 'open' };
  }

  @Post()
  @HttpCode(200)
  echo(@Body() body: unknown): object {
    return { data: { body } };
  }

  @Delete(':id')
  @HttpCode(204)
  remove(): void {}
}

const failures: Record<string, () => unknown> = {
  domain: () => new DomainError('webhook.not_found', 'there is no webhook wh_1', { id: 'wh_1' }),
  hook: () =>
    new DomainError('source.hook_failed', 'activate threw: no', {
      observations: [{ k: 'hook', ts: 1, h: 'activate' }],
      hook: 'activate',
    }),
  bug: () => new TypeError('secret internals'),
  conflict: () => new RevisionConflict('source-dc_1', 1n, 2n),
  text: () => 'just text',
  away: () => new EngineUnavailable('EventStoreDB', '10.0.0.7:2113 refused'),
  unwritable: () => new DomainError('webhook.not_found', 'no', { id: 1n }),
  cursor: () => new UnknownCursor('dc_1'),
};

@Controller('v1/failures')
class FailuresController {
  @Get(':kind')
  fail(@Param('kind') kind: string): never {
    throw failures[kind]?.();
  }
}

const bearer = { Authorization: `Bearer ${TEST_KEY}` };

describe('the HTTP edge', () => {
  let app: NestExpressApplication;
  const http = () => request(app.getHttpServer());

  /** supertest always sends a length. */
  const postChunked = async (text: string): Promise<[number, unknown]> => {
    await app.listen(0, '127.0.0.1');
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from(text));
        controller.close();
      },
    });
    const headers = { ...bearer, 'Content-Type': 'application/json' };
    const reply = await fetch(`${await app.getUrl()}/v1/things`, { method: 'POST', headers, body, duplex: 'half' });
    return [reply.status, await reply.json()];
  };

  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController, FailuresController] });
  });
  afterAll(() => app.close());

  it.each([
    ['/v1/things', 200],
    ['/v1/things/', 200],
    ['/v1/things///', 200],
    ['/v1/things/?limit=1', 200],
    ['/v1/things/x/%24errors/event_summaries', 200],
    ['/v1/things/x/$errors/event_summaries/', 200],
    ['/v1/things/%zz', 400],
  ])('GET %s is %i', async (path, status) => {
    const reply = await http().get(path).set(bearer);
    expect([reply.status, reply.headers['location']]).toEqual([status, undefined]);
  });

  it.each([
    ['/v1/things/x&expand=event', { id: 'x', query: { expand: 'event' } }],
    ['/v1/things/x&expand=event/', { id: 'x', query: { expand: 'event' } }],
    ['/v1/things/x/&expand=event&limit=3?n=1', { id: 'x', query: { expand: 'event', limit: '3', n: '1' } }],
    ['/v1/things/x%26y', { id: 'x&y', query: {} }],
    ['/v1/things/x%2Fy', { id: 'x/y', query: {} }],
  ])('GET %s reads the text after & in the last segment as a query', async (path, data) => {
    expect((await http().get(path).set(bearer)).body).toEqual({ data });
  });

  it('strips trailing slashes for every method', async () => {
    expect((await http().post('/v1/things/').set(bearer).send({ a: 1 })).status).toBe(200);
    expect((await http().delete('/v1/things/x/').set(bearer)).status).toBe(204);
  });

  describe('bodies', () => {
    // docs/reference/rest-api.md#body-formats #empty-body
    it.each([
      ['JSON type without a body', 'application/json', '', {}],
      ['JSON type with blanks', 'application/json', ' \n ', {}],
      ['JSON', 'application/json', '{"a":{"b":[1]}}', { a: { b: [1] } }],
      ['JSON with a charset and a byte order mark', 'application/json; charset=utf-8', '\uFEFF{"a":"é"}', { a: 'é' }],
      ['JSON of another kind', 'application/vnd.api+json', '{"a":1}', { a: 1 }],
      ['a form', 'application/x-www-form-urlencoded', 'a=1&b=x%20y&b=z', { a: '1', b: ['x y', 'z'] }],
      ['any type without a body', 'text/xml', '', {}],
      [
        'a form that names __proto__',
        'application/x-www-form-urlencoded',
        '__proto__=1',
        Object.fromEntries([['__proto__', '1']]),
      ],
    ])('%s', async (_, type, text, body) => {
      const reply = await http().post('/v1/things').set(bearer).set('Content-Type', type).send(text);
      expect([reply.status, reply.body]).toEqual([200, { data: { body } }]);
    });

    // docs/reference/rest-api.md#json-body
    it.each([
      ['text', 'text/plain', 'hello', 415, 'unsupported_media_type', /text\/plain/],
      ['multipart', 'multipart/form-data; boundary=x', '--x--', 415, 'unsupported_media_type', /multipart/],
      ['cut JSON', 'application/json', '{"a":', 400, 'invalid_json', /position 5/],
      ['wrong JSON', 'application/json', '{"a":1,}', 400, 'invalid_json', /position 7/],
      ['unquoted text', 'application/json', 'topsecret', 400, 'invalid_json', /not valid JSON/],
      ['too deep', 'application/json', '['.repeat(300) + ']'.repeat(300), 400, 'invalid_json', /300.*256/],
      ['too large', 'application/json', `"${'x'.repeat(70_000)}"`, 413, 'too_large', /limit of 65536 bytes.*70002/],
    ])('%s is refused', async (_, type, text, status, code, message) => {
      const reply = await http().post('/v1/things').set(bearer).set('Content-Type', type).send(text);
      expect([reply.status, errorOf(reply).code]).toEqual([status, code]);
      expect(errorOf(reply).error).toMatch(message);
      expect(errorOf(reply).error).not.toMatch(/topsecret/);
    });

    it('accepts a body of exactly the limit, and refuses a chunked one above it', async () => {
      const exact = JSON.stringify({ x: 'x'.repeat(65536 - 8) });
      expect((await http().post('/v1/things').set(bearer).type('json').send(exact)).status).toBe(200);
      const [status, reply] = await postChunked(`"${'x'.repeat(70_000)}"`);
      expect([status, reply]).toMatchObject([413, { code: 'too_large', details: { limit: 65536 } }]);
    });
  });

  describe('errors', () => {
    it.each([
      ['GET', '/v1/nothing', 404, 'route_not_found', 'there is no route GET /v1/nothing'],
      ['DELETE', '/v1/nothing?a=1', 404, 'route_not_found', 'there is no route DELETE /v1/nothing'],
      [
        'GET',
        '/v1/things//stream',
        404,
        'route_not_found',
        'there is no route GET /v1/things//stream: a part of this path is empty, as when a variable of the shell is not set, or the shell replaced $errors',
      ],
      [
        'DELETE',
        '/v1/things',
        405,
        'method_not_allowed',
        '/v1/things takes GET, HEAD, POST, not DELETE: an id is needed, as in DELETE /v1/things/{id}',
      ],
      ['PUT', '/v1/things', 405, 'method_not_allowed', '/v1/things takes GET, HEAD, POST, not PUT'],
      ['PUT', '/v1/things/', 405, 'method_not_allowed', '/v1/things/ takes GET, HEAD, POST, not PUT'],
    ])('%s %s is %i', async (method, path, status, code, error) => {
      const reply = await http()[method.toLowerCase() as 'get'](path).set(bearer);
      expect([reply.status, errorOf(reply).code, errorOf(reply).error]).toEqual([status, code, error]);
      expect(reply.headers['allow']).toBe(status === 405 ? 'GET, HEAD, POST' : undefined);
    });

    it('are { error, code, details? }', async () => {
      const reply = await http().get('/v1/failures/domain').set(bearer);
      expect([reply.status, reply.body]).toEqual([
        404,
        { error: 'there is no webhook wh_1', code: 'webhook_not_found', details: { id: 'wh_1' } },
      ]);
    });

    it('of a hook keep the shape of the original', async () => {
      const reply = await http().get('/v1/failures/hook').set(bearer);
      expect([reply.status, reply.body]).toEqual([
        422,
        {
          error: 'observation error',
          err: null,
          observations: [{ k: 'hook', ts: 1, h: 'activate' }],
          code: 'hook_failed',
          details: { hook: 'activate', message: 'activate threw: no' },
        },
      ]);
    });

    it.each(['bug', 'text', 'unwritable'])('of the server itself (%s) reveal only a request id', async (kind) => {
      const reply = await http().get(`/v1/failures/${kind}`).set(bearer).set('X-Request-Id', 'req-1');
      expect([reply.status, reply.body]).toEqual([
        500,
        {
          error: "unexpected error; the server's log names it under request id req-1",
          code: 'internal_error',
          details: { request_id: 'req-1' },
        },
      ]);
    });

    it.each([
      ['after=ZGNfMQ', 'after'],
      ['before=ZGNfMQ', 'before'],
      ['after=ZGNfMg&before=ZGNfMQ==', 'before'],
    ])('of an unknown cursor (%s) name the parameter', async (query, field) => {
      const reply = await http().get(`/v1/failures/cursor?${query}`).set(bearer);
      expect(errorOf(reply)).toEqual({
        status: 400,
        code: 'invalid_cursor',
        error: `parameter ${field} names no item of this list: dc_1`,
        details: { field, actual: 'dc_1' },
      });
    });

    // docs/reference/rest-api.md#write-conflicts
    it('of a lost race are a conflict', async () => {
      const reply = await http().get('/v1/failures/conflict').set(bearer);
      expect([reply.status, errorOf(reply).code]).toEqual([409, 'conflict']);
    });

    it('says that the event log is away, without naming its place', async () => {
      const reply = await http().get('/v1/failures/away').set(bearer);
      expect([reply.status, errorOf(reply).code, reply.headers['retry-after']]).toEqual([503, 'unavailable', '2']);
      expect(JSON.stringify(reply.body)).not.toContain('2113');
    });
  });

  describe('the API key', () => {
    // docs/reference/rest-api.md#authentication
    it.each([
      ['no header', undefined],
      ['another scheme', 'Basic abc'],
      ['no key', 'Bearer'],
      ['an unknown key', 'Bearer nope'],
      ['two keys', `Bearer ${TEST_KEY} ${TEST_KEY}`],
      ['an empty header', ''],
    ])('%s is 401', async (_, header) => {
      const reply = await http()
        .get('/v1/things')
        .set(header === undefined ? {} : { Authorization: header });
      expect([reply.status, errorOf(reply).code, reply.headers['www-authenticate']]).toEqual([
        401,
        'unauthorized',
        'Bearer',
      ]);
    });

    it.each([
      ['my-first-api-key', 'the Authorization header has no scheme'],
      ['my-first-api-key again', 'the authorization scheme must be Bearer, got another word'],
      ['basic YWRhOnNlY3JldA==', 'the authorization scheme must be Bearer, got Basic'],
    ])('is not repeated: %s', async (header, why) => {
      const { error } = errorOf(await http().get('/v1/things').set('Authorization', header));
      expect(error).toBe(`${why}: send the header Authorization: Bearer <API key>`);
    });

    it.each(['bearer', 'BEARER', 'Bearer  '])('accepts the scheme %s', async (scheme) => {
      expect((await http().get('/v1/things').set('Authorization', `${scheme} ${TEST_KEY}`)).status).toBe(200);
    });

    // docs/reference/rest-api.md#authentication-after-routing
    it('leaves the body unread when it is unknown', async () => {
      const post = http().post('/v1/things').set('Authorization', 'Bearer nope').type('json');
      expect(errorOf(await post.send('{"a":'))).toMatchObject({ status: 401, code: 'unauthorized' });
      const large = http().post('/v1/things').type('json');
      expect(errorOf(await large.send(JSON.stringify('x'.repeat(70_000))))).toMatchObject({ status: 401 });
      expect((await http().post('/v1/things').set(bearer).send({ a: 1 })).status).toBe(200);
    });

    it('is not needed on an open route', async () => {
      expect((await http().get('/v1/things/open/door')).status).toBe(200);
    });

    // docs/reference/rest-api.md#access-token-in-query
    it('is read from the query on stream routes only', async () => {
      const reply = await http().get(`/v1/things/x/stream?access_token=${TEST_KEY}`);
      expect([reply.status, reply.body]).toEqual([200, { data: { userId: 'u_1' } }]);
      expect((await http().get(`/v1/things?access_token=${TEST_KEY}`)).status).toBe(401);
    });
  });

  describe('request id and trace', () => {
    it.each([
      ['req-42', true],
      ['01890a5d-ac96-774b-bcce-b302099a8057', true],
      ['a b', false],
      ['x'.repeat(129), false],
      ['<script>', false],
    ])('%s echoed: %s', async (id, echoed) => {
      const reply = await http().get('/v1/things').set(bearer).set('X-Request-Id', id);
      expect(reply.headers['x-request-id'] === id).toBe(echoed);
      expect(reply.headers['x-request-id']).toMatch(/^\S+$/);
    });

    it('is on errors too', async () => {
      expect((await http().get('/v1/nothing')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    });

    // docs/reference/rest-api.md#trace-context
    it('is passed on in the context of commands', async () => {
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      const ask = async (headers: Record<string, string>) =>
        dataOf(await http().get('/v1/things/of/context').set(bearer).set(headers));
      const context = await ask({ 'X-Request-Id': 'req-1', traceparent });
      expect(context).toMatchObject({
        correlationId: 'req-1',
        causationId: context['commandId'],
        actor: { userId: 'u_1', apiKeyId: 'key_1' },
        workspaceId: 'o_1',
        traceparent,
      });
      expect(await ask({ traceparent: 'junk' })).not.toHaveProperty('traceparent');
    });
  });

  it.each([
    ['include=id', [{ id: 'a' }, { id: 'b' }]],
    [
      'include=id,%20name%20,nope',
      [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B' },
      ],
    ],
    ['exclude=name,size', [{ id: 'a' }, { id: 'b' }]],
    ['include=id,name&exclude=name', [{ id: 'a' }, { id: 'b' }]],
    [
      'include=&exclude=',
      [
        { id: 'a', name: 'A', size: 1 },
        { id: 'b', name: 'B', size: 2 },
      ],
    ],
    ['include=nope', [{}, {}]],
  ])('?%s selects fields of each element', async (query, data) => {
    const reply = await http().get(`/v1/things?${query}`).set(bearer);
    expect(reply.body).toEqual({ page_info: { count: 2 }, data });
  });

  it('selects fields named in the body of a POST', async () => {
    const reply = await http().post('/v1/things').set(bearer).send({ include: 'nope' });
    expect(reply.body).toEqual({ data: {} });
  });

  // docs/reference/rest-api.md#reply-headers
  it('reveals nothing about itself', async () => {
    const { headers } = await http().get('/v1/things').set(bearer).set('Origin', 'https://evil.example');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers['x-content-type-options']).toBe('nosniff');
  });
});
