import { describe, expect, it } from '@jest/globals';
import { parseChildMessage } from './child-message.js';
import { ProtocolBreach } from '#libs/framing/records.js';

describe('an error of a child', () => {
  const part = { name: 'E', message: 'm', stack: '', code: 'E' };
  const chain = (depth: number): object => (depth === 0 ? part : { ...part, cause: chain(depth - 1) });
  const parse = (error: string) =>
    parseChildMessage({ index: 0, json: Buffer.from(`["d",1,5,${error}]`), raw: Buffer.alloc(0) });

  it.each([
    ['five causes', chain(5)],
    ['ten parts, each with a cause', { ...part, errors: Array.from({ length: 10 }, () => chain(1)) }],
    ['a place', { ...part, place: { file: 'a.ts', line: 1, column: 1 } }],
  ])('may have %s', (_what, error) => {
    expect(parse(JSON.stringify(error))[3]).toEqual(error);
  });

  const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  it.each([
    ['six causes', JSON.stringify(chain(6))],
    ['eleven parts', JSON.stringify({ ...part, errors: Array.from({ length: 11 }, () => part) })],
    ['31 parts in all', JSON.stringify({ ...part, errors: Array.from({ length: 10 }, () => chain(3)) })],
    [
      'more text than one error',
      JSON.stringify({
        ...part,
        stack: 's'.repeat(32_768),
        cause: { ...part, message: 'm'.repeat(16_384), stack: 's'.repeat(600) },
      }),
    ],
    ['a cause that is a text', JSON.stringify({ ...part, cause: 'x' })],
    ['parts that are no list', JSON.stringify({ ...part, errors: { length: 1, 0: part } })],
    ['a place in a cause', JSON.stringify({ ...part, cause: { ...part, place: { file: 'a', line: 1, column: 1 } } })],
    ['a place of another form', JSON.stringify({ ...part, place: { file: 'a', line: 1, column: 1, x: 1 } })],
    // Nesting would exhaust the stack of the server, which makes texts with such escapes well-formed.
    ['unknown keys', `{"name":"\\ud800","message":"m","stack":"","code":"E","x":${lists(100_000)}}`],
    [
      'a cause with unknown keys',
      `{"name":"\\ud800","message":"","stack":"","code":"","cause":{"name":"","message":"","stack":"","code":"","x":${lists(100_000)}}}`,
    ],
  ])('is refused with %s', (_what, error) => {
    expect(() => parse(error)).toThrow(ProtocolBreach);
  });
});

describe('messages of a child', () => {
  const parse = (json: string, raw = '') =>
    parseChildMessage({ index: 0, json: Buffer.from(json), raw: Buffer.from(raw) });
  const error = { name: 'E', message: 'm', stack: '', code: 'E' };

  it.each([
    [['ready'], ''],
    [['s', 1, 5], ''],
    [['e', 1, '', null, null, null], '{}'],
    [['e', 1, 'c', 'id', 'sum', 5], '{}'],
    [['e', 1, 'c', 1.5, null, null], '{}'],
    [['l', 1, 'console.log', 5], 'text'],
    [['b', 1, 'key', 0], '1'],
    [['b', 1, 'key', 1], ''],
    [['r', 1, 200, { a: 'b', c: ['d'] }, 0, 1], 'body'],
    [['d', 1, 5, null], ''],
    [['d', 1, 5, error], ''],
    [['x', 1, 0], ''],
    [['loadfail', error], ''],
    [['invalid', 'text', null], ''],
  ])('accept %j', (message, raw) => {
    expect(parse(JSON.stringify(message), raw)).toEqual(message);
  });

  it.each([
    '',
    '{',
    'null',
    '5',
    '{}',
    '[]',
    '["nothing"]',
    '["constructor", 1]',
    '["__proto__"]',
    '["ready", 1]',
    '["s"]',
    '["s", -1, 5]',
    '["s", 1.5, 5]',
    '["s", "1", 5]',
    '["s", 1, null]',
    '["e", 1, "", null, null]',
    '["e", 1, null, null, null, null]',
    '["e", 1, "", {}, null, null]',
    '["e", 1, "", true, null, null]',
    '["e", 1, "", null, 5, null]',
    '["e", 1, "", null, null, "5"]',
    `["e", 1, "${'c'.repeat(1_025)}", null, null, null]`,
    '["e", 1, "$errors", null, null, null]',
    '["e", 1, "$logs", null, null, null]',
    '["e", 1, "$in", null, null, null]',
    '["e", 1, "a\\u0000b", null, null, null]',
    '["e", 1, "a\\nb", null, null, null]',
    '["e", 1, "", "a\\u0000b", null, null]',
    '["e", 1, "", null, null, 8.65e15]',
    '["b", 1, "a\\u0000b", 0]',
    '["l", 1, "other", 5]',
    '["l", 1, "console.log\\n", 5]',
    '["b", 1, "key", 2]',
    '["r", 1, 99, {}, 0, 0]',
    '["r", 1, 600, {}, 0, 0]',
    '["r", 1, "200", {}, 0, 0]',
    '["r", 1, 200, [], 0, 0]',
    '["r", 1, 200, {"a b": "c"}, 0, 0]',
    '["r", 1, 200, {"a": "c\\r\\nd: e"}, 0, 0]',
    '["r", 1, 200, {"a": 5}, 0, 0]',
    '["r", 1, 200, {"Trailer": "x"}, 0, 0]',
    '["r", 1, 200, {"transfer-encoding": "chunked"}, 0, 0]',
    '["r", 1, 200, {"content-length": "1"}, 0, 0]',
    '["r", 1, 200, {"a": "\\u20ac"}, 0, 0]',
    '["r", 1, 200, {"a": "1", "A": "2"}, 0, 0]',
    `["r", 1, 200, {${Array.from({ length: 5 }, (_, i) => `"h${i}":"${'v'.repeat(16_000)}"`).join()}}, 0, 0]`,
    '["r", 1, 200, {}, true, 0]',
    '["d", 1, 5, {}]',
    '["d", 1, 5, {"name":"E","message":5,"stack":"","code":"E"}]',
    '["d", 1, 5]',
  ])('refuse %s', (json) => {
    expect(() => parse(json)).toThrow(ProtocolBreach);
  });

  it('make every text well-formed', () => {
    const half = '\\ud800';
    const bad = `{"name":"${half}","message":"${half}","stack":"${half}","code":"${half}"}`;
    expect(parse(`["e", 1, "c${half}", "i", "s${half}", null]`, '1')).toEqual([
      'e',
      1,
      'c\ufffd',
      'i',
      's\ufffd',
      null,
    ]);
    // Two ids or keys would become one. The child refuses or replaces them before they are sent.
    expect(() => parse(`["e", 1, "", "i${half}", null, null]`, '1')).toThrow(ProtocolBreach);
    expect(() => parse(`["b", 1, "${half}", 0]`, '1')).toThrow(ProtocolBreach);
    // No header can carry U+FFFD.
    expect(() => parse(`["r", 1, 200, {"a": "${half}"}, 0, 0]`)).toThrow(ProtocolBreach);
    expect(JSON.stringify(parse(`["d", 1, 5, ${bad}]`))).not.toContain('\\ud800');
    expect(parse('["e", 1, "\\ud83d\\ude00", null, null, null]', '1')).toEqual(['e', 1, '\u{1F600}', null, null, null]);
  });

  it('refuse nesting that would exhaust the stack, as a protocol breach', () => {
    const deep = `["ready",${'['.repeat(200_000)}"\\ud800"${']'.repeat(200_000)}]`;
    expect(() => parse(deep)).toThrow(ProtocolBreach);
  });

  it('refuse an unexpected raw part, and a head that is too long', () => {
    expect(() => parse('["d", 1, 5, null]', 'x')).toThrow(ProtocolBreach);
    expect(() => parse('["b", 1, "k", 1]', 'x')).toThrow(ProtocolBreach);
    expect(() => parse(`["ready"${' '.repeat(600_000)}]`)).toThrow('message head of');
  });
});
