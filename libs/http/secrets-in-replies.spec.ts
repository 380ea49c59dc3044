import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { Operation } from './operation.js';
import { list, one } from './replies.js';
import { anyOf, listOf, named, nullable, object, record, recordOf, secret, text, type TypeOf } from './reply-schema.js';
import { httpTestApp, TEST_KEY } from './testing/http-test-app.js';
import { InMemoryIdempotencyRecords } from './testing/in-memory-idempotency-records.js';
import { withoutSecrets } from './without-secrets.js';

const SECRET = 'sk_that_is_shown_once';
const Made = named('Made', { id: text(), key: secret(text()) });
type MadeReply = { data: TypeOf<typeof Made> };

@Controller('v1')
class KeysController {
  static made = 0;

  @Post('api_keys')
  @HttpCode(200)
  @Operation({ summary: 'Makes a key', reply: one(Made) })
  key(): MadeReply {
    KeysController.made++;
    return { data: { id: 'key_1', key: SECRET } };
  }

  @Post('anything/:id')
  @HttpCode(200)
  @Operation({ summary: 'Makes keys under a path that tells nothing', reply: list(Made) })
  keys(@Param('id') id: string): { data: readonly MadeReply['data'][] } {
    KeysController.made++;
    return { data: [{ id, key: SECRET }] };
  }

  @Post('undescribed')
  @HttpCode(200)
  undescribed(): object {
    KeysController.made++;
    return { data: { key: SECRET } };
  }
}

// docs/reference/rest-api.md#secrets-in-replies
describe('a secret of a reply', () => {
  let app: NestExpressApplication;
  let records: InMemoryIdempotencyRecords;
  beforeEach(async () => {
    KeysController.made = 0;
    records = new InMemoryIdempotencyRecords();
    app = await httpTestApp({ controllers: [KeysController], http: { idempotency: records } });
  });
  afterEach(() => app.close());

  const post = (path: string) =>
    request(app.getHttpServer())
      .post(path)
      .set({ Authorization: `Bearer ${TEST_KEY}`, 'Idempotency-Key': 'k' });
  const stored = async (): Promise<string> => JSON.stringify([...records.records]);

  it.each(['/v1/api_keys', '/v1/%61pi_keys', '/v1/api_keys/', '/v1/%61%70i_keys&x=1'])(
    'is sent once by POST %s, and is not stored with the reply',
    async (path) => {
      expect((await post(path)).body).toEqual({ data: { id: 'key_1', key: SECRET } });
      expect(await stored()).toContain('key_1');
      expect(await stored()).not.toContain(SECRET);
      const again = await post(path);
      expect([again.body, again.headers['idempotency-replayed']]).toEqual([{ data: { id: 'key_1' } }, 'true']);
      expect(KeysController.made).toBe(1);
    },
  );

  it('depends on the schema and on no path', async () => {
    await post('/v1/anything/key_2');
    expect(await stored()).toContain('key_2');
    expect(await stored()).not.toContain(SECRET);
    expect((await post('/v1/anything/key_2')).body).toEqual({ data: [{ id: 'key_2' }] });
  });

  it('is not stored by a route whose reply nothing describes; a repeat is told that the first was carried out', async () => {
    await post('/v1/undescribed');
    expect(await stored()).not.toContain(SECRET);
    expect(await post('/v1/undescribed')).toMatchObject({ status: 409, body: { code: 'reply_not_kept' } });
    expect(KeysController.made).toBe(1);
  });

  // docs/reference/rest-api.md#url-forms
  it.each([
    '/V1/api_keys',
    '/v1/API_KEYS',
    '/v1/Api_Keys',
    '/v1/%41pi_keys',
    '//v1/api_keys',
    '/v1//api_keys',
    '/v1/x/../api_keys',
  ])('is not to be had by another spelling of the path: %s', async (path) => {
    expect(await post(path)).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
    expect(KeysController.made).toBe(0);
  });

  it('is left out wherever the schema marks it', () => {
    const schema = object({
      plain: text(),
      any: record(),
      nested: object({ inner: listOf(nullable(Made)) }),
      byName: recordOf(Made),
      either: anyOf(Made, object({ other: text() })),
    });
    const made = { id: 'a', key: SECRET };
    const reply = { plain: 'p', any: { key: 'k' }, nested: { inner: [made, null] }, byName: { x: made }, either: made };
    const kept = { id: 'a' };
    expect(withoutSecrets(schema, reply)).toEqual({
      plain: 'p',
      any: { key: 'k' },
      nested: { inner: [kept, null] },
      byName: { x: kept },
      either: kept,
    });
  });
});
