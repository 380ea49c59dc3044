import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { echoCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const KB = 1024;
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=B';

const part = (name: string): string => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
/** So short that more than the limit of fields fit into a body. */
const shortPart = (name: string): string => `--B\r\nContent-Disposition:form-data;name=${name}\r\n\r\n\r\n`;

describe('a hostile body', () => {
  let echo: Source;
  beforeAll(async () => {
    echo = await instance.deploy(echoCode());
  }, 60_000);

  const serverLives = async (): Promise<void> => {
    expect((await instance.post(echo, 'alive', { 'content-type': 'text/plain' })).status).toBe(200);
  };

  it.each([
    ['a form of repeated fields', FORM, 'a=1&'.repeat(120 * KB), 'too_many_fields'],
    ['a form of empty fields', FORM, '&'.repeat(500 * KB), 'too_many_fields'],
    ['fields of a multipart body', MULTIPART, `${shortPart('a').repeat(10_001)}--B--\r\n`, 'too_many_fields'],
    ['brackets', 'application/json', '['.repeat(200 * KB) + ']'.repeat(200 * KB), 'invalid_json'],
    ['objects in objects', 'application/json', `${'{"a":'.repeat(60 * KB)}1${'}'.repeat(60 * KB)}`, 'invalid_json'],
  ])('of an endpoint is refused, naming the limit: %s', async (_name, type, body, code) => {
    const answer = await instance.post(echo, body, { 'content-type': type });
    expect([answer.status, jsonOf(answer)]).toMatchObject([400, { code, error: expect.stringMatching(/10000|256/) }]);
    await serverLives();
  });

  it.each([
    ['a form of 10,000 fields', FORM, Array.from({ length: 10_000 }, (_, i) => `k${i}=1`).join('&')],
    [
      '10,000 fields of a multipart body',
      MULTIPART,
      `${Array.from({ length: 10_000 }, (_, i) => shortPart(`k${i}`)).join('')}--B--\r\n`,
    ],
  ])('at the limit is taken, whole (the control): %s', async (_name, type, body) => {
    const answer = await instance.post(echo, body, { 'content-type': type });
    expect(answer.status).toBe(200);
    expect(Object.keys((jsonOf(answer) as { body: object }).body)).toHaveLength(10_000);
  });

  it.each([
    ['ends within a file', MULTIPART, '--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\nabc'],
    ['ends within a header', MULTIPART, '--B\r\nContent-Disp'],
    ['has no end of its headers', MULTIPART, `--B\r\n${'a:\r\n'.repeat(50 * KB)}`],
    ['has no boundary', 'multipart/form-data', 'abc'],
    ['has a boundary of 8,000 characters', `multipart/form-data; boundary=${'-'.repeat(8_000)}`, '-'.repeat(400 * KB)],
    ['stays open', 'application/json', '['.repeat(400 * KB)],
    ['is cut off', 'application/json', '{"a":"'],
  ])('that %s reaches the component as text', async (_name, type, body) => {
    const answer = await instance.post(echo, body, { 'content-type': type });
    expect(answer.status).toBe(200);
    expect((jsonOf(answer) as { body: unknown }).body).toBe(body);
    await serverLives();
  });

  it('may have a field __proto__, which is kept', async () => {
    for (const [type, body] of [
      [FORM, '__proto__=x&a=1'],
      [MULTIPART, `${part('__proto__')}${part('a')}--B--\r\n`],
      ['application/json', '{"__proto__":"x","a":1}'],
    ] as const) {
      const answer = await instance.post(echo, body, { 'content-type': type });
      expect(answer.text).toMatch(/"body":\{"__proto__":"[x1]","a":"?1"?\}/);
    }
  });

  it.each([
    ['a form of repeated fields', FORM, 'a=1&'.repeat(500 * KB), 400],
    [
      'an object of many keys',
      'application/json',
      `{${Array.from({ length: 150_000 }, (_, i) => `"k${i}":0`).join()}}`,
      400,
    ],
    ['many objects', 'application/json', `[${'{},'.repeat(500 * KB)}{}]`, 400],
    ['brackets', 'application/json', '['.repeat(2_000 * KB), 400],
    ['packed blanks', 'application/json', gzipSync(Buffer.alloc(50_000_000, 0x20)), 413],
  ])('of the API is refused: %s', async (_name, type, body, status) => {
    const packed = Buffer.isBuffer(body) ? { 'content-encoding': 'gzip' } : {};
    for (const path of ['/v1/sources', '/v1/components']) {
      const reply = await instance.api.call('POST', path, { body, headers: { 'content-type': type, ...packed } });
      expect([reply.status, reply.body]).toMatchObject([
        status,
        { error: expect.any(String), code: expect.any(String) },
      ]);
    }
    await serverLives();
  });

  it('of the API may hold values below these limits (the control)', async () => {
    const props = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 0]));
    const body = { component_id: echo.component_id, configured_props: {}, more: props };
    const reply = await instance.api.call('POST', '/v1/sources', { body });
    expect(reply.status).toBe(200);
  });
});
