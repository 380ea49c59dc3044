import { gzipSync } from 'node:zlib';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { httpTestApp, TEST_KEY } from './testing/http-test-app.js';

@Controller('v1/things')
class ThingsController {
  @Get()
  list(): object {
    return { data: [] };
  }

  @Post()
  @HttpCode(200)
  echo(@Body() body: object): object {
    return { data: { fields: Object.keys(body).length } };
  }
}

describe('the content of a body', () => {
  let app: NestExpressApplication;
  let url: string;
  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController], configure: { maxBodyBytes: 256 * 1024 } });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/v1/things`;
  });
  afterAll(() => app.close());

  const ask = async (init: RequestInit, query = ''): Promise<[number, unknown]> => {
    const headers = { authorization: `Bearer ${TEST_KEY}`, ...(init.headers as Record<string, string>) };
    const reply = await fetch(url + query, { ...init, headers });
    return [reply.status, await reply.json()];
  };
  const post = (type: string, body: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}) =>
    ask({ method: 'POST', headers: { 'content-type': type, ...more }, body });

  const FORM = 'application/x-www-form-urlencoded';
  const JSON_TYPE = 'application/json';

  it.each([
    ['fields of a form', FORM, `${'a=1&'.repeat(999)}a=1`, `${'a=1&'.repeat(1_000)}a=1`, 'too_many_fields', 1_000],
    [
      'values of JSON',
      JSON_TYPE,
      `{"a":[${'0,'.repeat(24_996)}0]}`,
      `{"a":[${'0,'.repeat(24_999)}0]}`,
      'invalid_json',
      25_000,
    ],
    ['keys of JSON', JSON_TYPE, `{"a":1}`, `{${'"a":1,'.repeat(12_500)}"a":1}`, 'invalid_json', 25_000],
    ['levels of JSON', JSON_TYPE, '{"a":[[]]}', '['.repeat(200_000), 'invalid_json', 256],
  ])('is limited: %s', async (_, type, most, more, code, limit) => {
    expect((await post(type, most))[0]).toBe(200);
    const [status, body] = await post(type, more);
    expect([status, body]).toMatchObject([400, { code, details: { limit, actual: expect.any(Number) } }]);
  });

  it('is limited in the query as well', async () => {
    expect((await ask({}, `?${'a&'.repeat(999)}a`))[0]).toBe(200);
    expect(await ask({}, `?${'a&'.repeat(1_000)}a`)).toMatchObject([
      400,
      { code: 'too_many_fields', error: 'the query has 1001 fields, the limit is 1000' },
    ]);
  });

  it('may be text with any brackets and commas, which do not count', async () => {
    const text = JSON.stringify({ code: '{[,:"\\'.repeat(20_000) });
    expect(await post(JSON_TYPE, text)).toEqual([200, { data: { fields: 1 } }]);
  });

  it.each([
    ['gzip', new Uint8Array([31, 139, 8, 0])],
    ['gzip', new Uint8Array(Buffer.from('{"a":1}'))],
    ['deflate', new Uint8Array(Buffer.from('{"a":1}'))],
    ['br', new Uint8Array(Buffer.from('{"a":1}'))],
  ])('is compressed as its header says: %s', async (encoding, body) => {
    expect(await post(JSON_TYPE, body, { 'content-encoding': encoding })).toMatchObject([
      400,
      {
        code: 'invalid_parameter',
        error: expect.stringMatching(
          new RegExp(`^the body is not valid ${encoding}, which the header Content-Encoding names \\(.+\\): compress`),
        ),
        details: { field: 'content-encoding', actual: encoding },
      },
    ]);
  });

  it.each(['// key: s3cret\nexport default {', '{"key": "s3cret" "', "{'key': 's3cret'}", 'xs3cret'])(
    'is not repeated when it is not JSON: %s',
    async (text) => {
      const [status, reply] = await post(JSON_TYPE, text);
      expect([status, reply]).toMatchObject([400, { code: 'invalid_json' }]);
      const { error } = reply as { error: string };
      expect(error).not.toMatch(/s3c|key/);
      expect(error.length).toBeLessThan(120);
    },
  );

  it('is measured unpacked', async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(10_000_000, 0x20)));
    expect(bomb.length).toBeLessThan(20_000);
    const refused = await post(JSON_TYPE, bomb, { 'content-encoding': 'gzip' });
    expect(refused).toMatchObject([413, { code: 'too_large', details: { limit: 262_144 } }]);
    const small = new Uint8Array(gzipSync('{"a":1}'));
    expect(await post(JSON_TYPE, small, { 'content-encoding': 'gzip' })).toEqual([200, { data: { fields: 1 } }]);
  });
});
