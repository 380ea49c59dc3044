import { describe, expect, it } from '@jest/globals';
import { maskSecrets, shownPath, withoutPassword } from './mask-secrets.js';

const KEY = `sk_${'0a'.repeat(20)}`;
const ENDPOINT = 'e0123456789abcde';
const TOKEN = `${'0a'.repeat(18)}1.${'aZ-_'.repeat(21)}09`;

describe('a path in logs and error texts', () => {
  it.each([
    ['/v1/sources/dc_1/sse', '/v1/sources/dc_1/sse'],
    ['/v1/sources/dc_1/$errors/event_summaries', '/v1/sources/dc_1/$errors/event_summaries'],
    ['/v1/sources/dc_1/%24errors/x', '/v1/sources/dc_1/%24errors/x'],
    ['/v1/data_stores/ds_1/records/caf%C3%A9', '/v1/data_stores/ds_1/records/caf%C3%A9'],
    ['/v1/sources/dc_1/sse&access_token=secret', '/v1/sources/dc_1/sse&…'],
    ['/v1/sources/dc_1/sse&access_token=secret/more', '/v1/sources/dc_1/sse&…'],
    ['/v1/sources/dc_1/sse;access_token=secret', '/v1/sources/dc_1/sse;…'],
    ['/v1/sources/dc_1/sse%26access_token=secret', '/v1/sources/dc_1/sse&…'],
    ['/v1/sources/dc_1/sse%3Faccess_token%3Dsecret', '/v1/sources/dc_1/sse?…'],
    ['/v1/sources/dc_1/sse%2526access_token%253Dsecret', '/v1/sources/dc_1/sse&…'],
    ['/v1/sources/dc_1/sse%ff%26access_token%3Dsecret', '/v1/sources/dc_1/sse%ff&…'],
    ['/v1/sources/dc_1/sse%zz%3Faccess_token=secret', '/v1/sources/dc_1/sse%zz?…'],
    ['/v1/access_token=secret/x', '/v1/access_token…'],
    ['/v1/sources/dc_1/sse/access_token/secret', '/v1/sources/dc_1/sse/access_token…'],
    ['/v1/api_keys/key_1', '/v1/api_keys/key_1'],
    [`/v1/${KEY}/x`, '/v1/sk_***/x'],
    [`/v1/x%3D${KEY}`, '/v1/x=…'],
    [`/v1/%73k_${KEY.slice(3)}`, '/v1/sk_***'],
    [`/h/${ENDPOINT}/path`, '/h/***/path'],
    [`/v1/h/${ENDPOINT}`, '/v1/h/***'],
    [`/r/${TOKEN}/resume`, '/r/***/resume'],
    [`/r/${TOKEN.slice(0, -60)}`, '/r/***'],
    [`/%72/${TOKEN}/resume`, '/r/***/resume'],
  ])('%s is shown as %s', (path, shown) => expect(shownPath(path)).toBe(shown));

  it('takes linear time, however it is made', () => {
    const parts = [
      'a://b:',
      '://',
      '%25',
      'token',
      'password',
      '%',
      'sk_0a',
      'whsec_',
      '/h/e',
      '/r/',
      '@',
      'x=',
      '%C3',
      'a://b:@',
    ];
    // A pattern for one word must not match across words.
    for (const [before, part] of ['', '@ ', '@%20', ':// '].flatMap((start) =>
      parts.map((each) => [start, each] as const),
    )) {
      const text = before + part.repeat(Math.ceil(2_000_000 / part.length));
      // Quadratic time would take hours.
      expect(shownPath(text).length).toBeGreaterThan(0);
      expect(maskSecrets(text).length).toBeGreaterThan(0);
    }
  });
});

describe('a text for operators', () => {
  it.each([
    ['cannot reach mongodb://ada:s3cret@db:27017/x: refused', 'cannot reach mongodb://ada:***@db:27017/x: refused'],
    ['"esdb://ada:s3/cr@et@a:2113,b:2113?tls=true"', '"esdb://ada:***@a:2113,b:2113?tls=true"'],
    ['smtps://ada:p#ss@mail.example', 'smtps://ada:***@mail.example'],
    ['https://t0ken@registry.example/x', 'https://***@registry.example/x'],
    ['GET https://esm.sh/lodash@4 failed', 'GET https://esm.sh/lodash@4 failed'],
    ['ada@example.com at http://127.0.0.1:3000/v1', 'ada@example.com at http://127.0.0.1:3000/v1'],
    ['bad access_token=abc&x=1', 'bad access_token=***&x=1'],
    ['tlsCertificateKeyFilePassword=abc', 'tlsCertificateKeyFilePassword=***'],
    [`the key ${KEY} and whsec_${'A'.repeat(32)}`, 'the key sk_*** and whsec_***'],
  ])('%s becomes %s', (text, masked) => expect(maskSecrets(text)).toBe(masked));
});

describe('the value of a setting', () => {
  it.each([
    ['mongodb://ada:s3cret@db/x', 'mongodb://ada:***@db/x'],
    ['mongodb://ada:s3@cr/et#@db', 'mongodb://ada:***@db'],
    ['mongodb://ada:s3 cret@db', 'mongodb://ada:***@db'],
    ['mongodb://ada:s3cret', 'mongodb://ada:***'],
    ['ada:s3cret@broker:9092', 'ada:***@broker:9092'],
    ['a:9092,ada:s3cret@broker:9092', 'a:***@broker:9092'],
    ['@x=https://ada:s3cret@npm.example', '@x=https://ada:***@npm.example'],
    ['https://t0ken@npm.example', 'https://***@npm.example'],
    ['esdb://a:2113,b:2113?tls=false', 'esdb://a:2113,b:2113?tls=false'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['Sluice <sluice@example.com>', 'Sluice <sluice@example.com>'],
    ['left-pad@<1.2.0', 'left-pad@<1.2.0'],
    ['10.0.0.0/8', '10.0.0.0/8'],
  ])('%s is shown as %s', (value, shown) => expect(withoutPassword(value)).toBe(shown));
});
