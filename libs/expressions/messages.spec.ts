import { describe, expect, it } from '@jest/globals';
import { ProtocolBreach, type RawRecord } from '#libs/framing/records.js';
import { MAX_MESSAGE, MAX_VALUE_BYTES, readAnswer, readScope, scopeParts, type ExpressionScope } from './messages.js';

const record = (json: unknown, raw: string | Buffer = ''): RawRecord => ({
  index: 0,
  json: Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)),
  raw: Buffer.from(raw),
});

describe('a scope', () => {
  it.each<[what: string, scope: ExpressionScope]>([
    ['with all', { steps: { trigger: '{"event":"é🙂"}', a: '{}' }, env: '{"A":"ü"}', item: '"€"', index: 0 }],
    ['of nothing', { steps: {}, env: '{}' }],
    ['with a namespace of prototypes', { steps: JSON.parse('{"__proto__":"1"}') as Record<string, string>, env: '{}' }],
  ])('%s arrives as it was', (_what, scope) => {
    const { head, texts } = scopeParts(scope);
    const { scope: read, rest } = readScope(head, Buffer.concat([...texts, Buffer.from('rést')]));
    expect({ ...read, steps: Object.entries(read.steps) }).toEqual({ ...scope, steps: Object.entries(scope.steps) });
    expect(rest).toBe('rést');
  });
});

describe('an answer of the process', () => {
  it.each<[answer: unknown, raw: string]>([
    [['value', 1.5], '{"a":1}'],
    [['value', 0], ''],
    [['failed', 2, 'ExpressionError', 'props.a: x'], ''],
    [['parsed', []], ''],
    [['parsed', [[3, 'Unexpected token', 4]]], ''],
    [['document'], '{"name":"a"}'],
    [['too_large'], ''],
    [['faults', [['duplicate', 'the key a is there before', 2, 1]]], ''],
    [['places', [[1, 4]]], ''],
  ])('is read: %j', (answer, raw) => expect(readAnswer(record(answer, raw))).toEqual({ answer, text: raw }));

  it.each<[what: string, said: RawRecord]>([
    ['no JSON', record('{')],
    ['no list', record({ 0: 'parsed' })],
    ['an unknown kind', record(['ready'])],
    ['too many parts', record(['too_large', 1])],
    ['faults of no form', record(['parsed', [[1, 'x']]])],
    ['a fault of an unknown kind', record(['faults', [['x', 'x', 1, 1]]])],
    ['too many places', record(['places', Array.from({ length: 51 }, () => [1, 1])])],
    ['bytes with places', record(['places', []], '1')],
    ['a time that is no number', record(['value', null])],
    ['a negative time', record(['value', -1])],
    ['an unknown error', record(['failed', 1, 'Timeout', 'x'])],
    ['a long message', record(['failed', 1, 'ExpressionError', 'x'.repeat(MAX_MESSAGE + 1)])],
    ['a long head', record(`["parsed",[]${' '.repeat(70_000)}]`)],
    ['bytes with an error', record(['failed', 1, 'ExpressionError', 'x'], '1')],
    ['a large value', record(['value', 1], `"${'x'.repeat(MAX_VALUE_BYTES)}"`)],
    ['bytes that are no UTF-8', record(['value', 1], Buffer.from([0x22, 0xff, 0x22]))],
    ['a value that nests too deep', record(['value', 1], '['.repeat(300) + ']'.repeat(300))],
    ['a value that is no JSON', record(['value', 1], '{"a":')],
  ])('with %s is a breach', (_what, said) => expect(() => readAnswer(said)).toThrow(ProtocolBreach));
});
