import { describe, expect, it } from '@jest/globals';
import { isReplyHeaders } from '../protocol/reply-headers.js';
import { readReply } from './reply.js';

const headersOf = (headers: unknown) => readReply({ headers }).headers;

describe('headers of respond', () => {
  it('are taken as given, values as text', () => {
    expect(headersOf({ 'X-A': 1, b: ['c', 2], gone: null, latin: 'é' })).toEqual({
      'X-A': '1',
      b: ['c', '2'],
      latin: 'é',
    });
  });

  it('of a Headers object keep each cookie', () => {
    const headers = new Headers({ 'X-A': 'b' });
    headers.append('set-cookie', 'a=1');
    headers.append('set-cookie', 'b=2');
    expect(headersOf(headers)).toEqual({ 'x-a': 'b', 'set-cookie': ['a=1', 'b=2'] });
  });

  it('keep a header named __proto__', () => {
    const headers: unknown = JSON.parse('{"__proto__":"x"}');
    expect(JSON.stringify(headersOf(headers))).toBe('{"__proto__":"x"}');
  });

  it.each([
    ['trailer', 'x'],
    ['Transfer-Encoding', 'chunked'],
    ['content-length', '5'],
    ['Connection', 'close'],
    ['upgrade', 'h2c'],
    ['te', 'trailers'],
    ['keep-alive', 'timeout=5'],
    ['proxy-authenticate', 'Basic'],
    ['http2-settings', 'x'],
    ['Content-Length', 'no number'],
    ['CONTENT-LENGTH', '1\r\nx: y'],
  ])('that belong to the connection are dropped, with any value: %s', (name, value) => {
    const { headers, dropped } = readReply({ headers: { 'X-A': '1', [name]: value } });
    expect(headers).toEqual({ 'X-A': '1' });
    expect(dropped).toEqual([name]);
    expect(isReplyHeaders({ [name]: value })).toBe(false);
  });

  it('that belong to the connection are dropped in several spellings, lists and Headers, unless they have no value', () => {
    const given = { connection: ['close', 'x'], Connection: 'close', te: undefined, upgrade: null };
    expect(readReply({ headers: given })).toMatchObject({ headers: {}, dropped: ['connection', 'Connection'] });
    const headers = new Headers({ 'content-length': '3', 'x-a': 'b' });
    expect(readReply({ headers })).toMatchObject({ headers: { 'x-a': 'b' }, dropped: ['content-length'] });
  });

  it.each<[unknown, RegExp]>([
    [{ 'a b': '1' }, /"a b" cannot be a header name/],
    [{ '': '1' }, /"" cannot be a header name/],
    [{ a: '1\r\nb: 2' }, /header a has a line break/],
    [{ a: '€' }, /header a .*Latin-1/],
    [{ a: ['ok', '\0'] }, /header a has/],
    [{ 'X-A': '1', 'x-a': '2' }, /headers X-A and x-a are the same/],
    [{ a: 'x'.repeat(16_385) }, /header a has 16385 characters, at most 16384/],
    [Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`h${i}`, ''])), /at most 200 headers.*201/],
    [{ a: Array.from({ length: 5 }, () => 'x'.repeat(16_000)) }, /65536 characters in all, these have 8\d{4}/],
    ['text', /must be an object, not string/],
  ])('that cannot be sent are refused: %j', (headers, message) => {
    expect(() => headersOf(headers)).toThrow(message);
  });
});

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

describe('the status of respond', () => {
  it.each<[unknown, number]>([
    [undefined, 200],
    [null, 200],
    [100, 100],
    [599, 599],
    ['204', 204],
    [' 418 ', 418],
  ])('%j is %i', (status, expected) => expect(readReply({ status }).status).toBe(expected));

  it.each<[unknown, string]>([
    [99, '99'],
    [600, '600'],
    [200.5, '200.5'],
    [Number.NaN, 'null'],
    ['', '""'],
    ['2e2', '"2e2"'],
    ['-200', '"-200"'],
    [true, 'true'],
    [[200], '[200]'],
    [() => 200, 'function'],
  ])('%p is refused', (status, shown) => {
    expect(() => readReply({ status })).toThrow(`respond: status must be an integer from 100 to 599, not ${shown}`);
  });
});

describe('the body of respond', () => {
  const TEXT = 'text/plain; charset=utf-8';
  const BYTES = 'application/octet-stream';
  const JSON_TYPE = 'application/json; charset=utf-8';
  const utf16 = new Uint16Array([1, 2]);

  it.each<[string, unknown, string, boolean, string | undefined]>([
    ['none', undefined, '', false, undefined],
    ['null', null, '', false, undefined],
    ['an empty text', '', '', false, TEXT],
    ['a text that looks like JSON', '{"a":1}', '{"a":1}', false, TEXT],
    ['a Buffer', Buffer.from([0, 255]), 'AP8=', true, BYTES],
    ['a view into a larger buffer', new Uint8Array([9, 65, 66, 9]).subarray(1, 3), 'QUI=', true, BYTES],
    ['an ArrayBuffer', new Uint8Array([65, 66]).buffer, 'QUI=', true, BYTES],
    ['an object', { a: [1] }, '{"a":[1]}', false, JSON_TYPE],
    ['a list', [1, 'a', null], '[1,"a",null]', false, JSON_TYPE],
    ['a number', 0, '0', false, JSON_TYPE],
    ['a boolean', false, 'false', false, JSON_TYPE],
    ['a value with toJSON', { toJSON: () => ({ b: 2 }) }, '{"b":2}', false, JSON_TYPE],
    ['a list of other numbers', utf16, '{"0":1,"1":2}', false, JSON_TYPE],
  ])('may be %s', (_, given, body, base64, type) => {
    const reply = readReply({ body: given });
    expect(reply).toMatchObject({ body, base64, immediate: false });
    expect(reply.headers['content-type']).toBe(type);
  });

  it('keeps the content type that headers give, in any case of its name', () => {
    for (const name of ['content-type', 'Content-Type'])
      expect(readReply({ body: { a: 1 }, headers: { [name]: 'application/ld+json' } }).headers).toEqual({
        [name]: 'application/ld+json',
      });
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a function', () => () => 1, /a body of type function cannot be sent/],
    ['a symbol', () => Symbol('s'), /a body of type symbol cannot be sent/],
    ['a bigint', () => ({ n: 1n }), /body cannot be written as JSON: .*BigInt/],
    [
      'a circle',
      () => {
        const a: Record<string, unknown> = {};
        a['a'] = a;
        return a;
      },
      /cannot be written as JSON: .*circular/,
    ],
    ['257 levels', () => nested(257), /the body nests more than 256 levels deep: flatten it/],
    ['1,000 levels', () => nested(1_000), /the body nests more than 256 levels deep: flatten it/],
  ])('is refused when it is %s', (_, make, message) => {
    expect(() => readReply({ body: make() })).toThrow(message);
  });

  it('may nest 256 levels deep, and a text or bytes may hold anything', () => {
    expect(readReply({ body: nested(256) }).body).toHaveLength(512);
    const text = '['.repeat(1_000);
    expect(readReply({ body: text }).body).toBe(text);
  });

  it('is sent at once only for immediate: true itself', () => {
    expect(readReply({ immediate: true }).immediate).toBe(true);
    for (const immediate of [1, 'true', {}, null]) expect(readReply({ immediate }).immediate).toBe(false);
  });
});
