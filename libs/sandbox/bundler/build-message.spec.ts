import { describe, expect, it } from '@jest/globals';
import { HEADER_BYTES, ProtocolBreach } from '#libs/framing/records.js';
import { encodeReply, parseReply, type BuildReply } from './build-message.js';

const parsed = (head: unknown, raw = ''): BuildReply =>
  parseReply({ index: 0, json: Buffer.from(JSON.stringify(head)), raw: Buffer.from(raw) });

const PROBLEM = { text: 't', file: 'a.mjs', line: 1, column: 2 };
const ANSWERS: readonly BuildReply[] = [
  { kind: 'loaded' },
  { kind: 'engine_ended' },
  {
    kind: 'bundle',
    externals: [],
    assignments: [],
    native: null,
    bundle: Buffer.from('the code'),
    inputs: ['component:a.mjs'],
  },
  { kind: 'wanted', packages: ['lodash'] },
  { kind: 'refused', message: 'm', file: null, missing: 'x' },
  { kind: 'invalid', problems: [PROBLEM], count: 3 },
  { kind: 'too_large', bytes: 5 },
  { kind: 'too_many_packages', count: 5 },
];

describe('an answer of a build process', () => {
  it.each(ANSWERS)('is read: $kind', (answer) => {
    const bytes = encodeReply(answer);
    const jsonBytes = bytes.readUInt32LE(4);
    const json = bytes.subarray(HEADER_BYTES, HEADER_BYTES + jsonBytes);
    expect(parseReply({ index: 0, json, raw: bytes.subarray(HEADER_BYTES + jsonBytes) })).toEqual(answer);
  });

  it('keeps the bundle when the record is overwritten', () => {
    const raw = Buffer.from('the code');
    const answer = parseReply({
      index: 0,
      json: Buffer.from('{"kind":"bundle","inputs":[],"externals":[],"assignments":[],"native":null}'),
      raw,
    });
    raw.fill(0);
    expect(answer).toMatchObject({ bundle: Buffer.from('the code') });
  });

  it('loses unknown fields', () => {
    expect(parsed({ kind: 'refused', message: 'm', file: null, missing: null, code: 'x', __proto__: 1 })).toEqual({
      kind: 'refused',
      message: 'm',
      file: null,
      missing: null,
    });
  });

  it.each<[string, unknown, string?]>([
    ['an array', ['bundle']],
    ['null', null],
    ['an unknown kind', { kind: 'constructor' }],
    ['inputs that are no list', { kind: 'bundle', externals: [], assignments: [], native: null, inputs: 'a' }],
    ['inputs that are no texts', { kind: 'bundle', externals: [], assignments: [], native: null, inputs: [1] }],
    [
      'too many inputs',
      {
        kind: 'bundle',
        externals: [],
        assignments: [],
        native: null,
        inputs: Array.from({ length: 20_001 }, () => 'a'),
      },
    ],
    ['a long input', { kind: 'bundle', externals: [], assignments: [], native: null, inputs: ['a'.repeat(5_000)] }],
    ['no packages', { kind: 'wanted', packages: [] }],
    ['too many packages', { kind: 'wanted', packages: Array.from({ length: 501 }, () => 'a') }],
    ['a long package', { kind: 'wanted', packages: ['a'.repeat(1_001)] }],
    ['a long message', { kind: 'refused', message: 'a'.repeat(5_000), file: null, missing: null }],
    ['a file that is no text', { kind: 'refused', message: 'm', file: 1, missing: null }],
    ['problems without end', { kind: 'invalid', problems: Array.from({ length: 11 }, () => PROBLEM), count: 11 }],
    ['a problem without text', { kind: 'invalid', problems: [{ ...PROBLEM, text: undefined }], count: 1 }],
    ['a line that is no number', { kind: 'invalid', problems: [{ ...PROBLEM, line: -1 }], count: 1 }],
    ['a raw part that does not belong there', { kind: 'loaded' }, 'raw'],
    ['deep nesting', { kind: 'loaded', deep: JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)) as unknown }],
  ])('is refused: %s', (_what, head, raw = '') => {
    expect(() => parsed(head, raw)).toThrow(ProtocolBreach);
  });

  it('is refused when it is not JSON, or too long', () => {
    const none = Buffer.alloc(0);
    expect(() => parseReply({ index: 0, json: Buffer.from('{'), raw: none })).toThrow(ProtocolBreach);
    expect(() => parseReply({ index: 0, json: Buffer.alloc(3 * 1024 * 1024, 32), raw: none })).toThrow(/at most/);
  });
});
