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
  ])('that belong to the connection are refused by name: %s', (name, value) => {
    expect(() => headersOf({ [name]: value })).toThrow(`respond: header ${name} cannot be set`);
    expect(isReplyHeaders({ [name]: value })).toBe(false);
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
