import { describe, expect, it } from '@jest/globals';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { held, plan, prop, refusal, valuesOf } from '../testing/planned-props.js';

const nested = (levels: number, open = '[', close = ']'): string => open.repeat(levels) + close.repeat(levels);
const deepObject = (levels: number): string => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);

interface Row {
  /** Values as given, and as stored. */
  readonly good: readonly (readonly [given: unknown, stored: unknown])[];
  /** Values that are refused, where in the prop, what is expected, and what the error shows of it. */
  readonly bad: readonly (readonly [given: unknown, at: string, expected: string, actual: string | number])[];
  readonly over?: Partial<ConfigurableProp>;
}

const LIST_BAD = (of: string): Row['bad'] => [
  [{ a: 1 }, '', `an array of ${of}`, '{"a":1}'],
  ['text', '', `an array of ${of}`, '"text"'],
  ['{"a":1}', '', `an array of ${of}`, '"{\\"a\\":1}"'],
  [7, '', `an array of ${of}`, '7'],
  [[null], '[0]', ARTICLE[of] ?? '', 'null'],
];
const ARTICLE: Readonly<Record<string, string>> = { string: 'a string', integer: 'an integer', boolean: 'a boolean' };

const TABLE: Readonly<Record<string, Row>> = {
  string: {
    good: [
      ['a', 'a'],
      ['', ''],
      ['{"a":1}', '{"a":1}'],
      [0, '0'],
      [-1.5, '-1.5'],
      [false, 'false'],
      ['\u0000', '\u0000'],
    ],
    bad: [
      [['a'], '', 'a string', '["a"]'],
      [{}, '', 'a string', '{}'],
    ],
  },
  'string[]': {
    good: [
      [
        ['a', 1, true],
        ['a', '1', 'true'],
      ],
      ['["a"]', ['a']],
      [[], []],
    ],
    bad: [...LIST_BAD('string'), [['a', ['b']], '[1]', 'a string', '["b"]']],
  },
  integer: {
    good: [
      [0, 0],
      [-0, -0],
      ['+7', 7],
      [' -7 ', -7],
      [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ],
    bad: [
      [Number.MAX_SAFE_INTEGER + 1, '', 'an integer', '9007199254740992'],
      ['9007199254740993', '', 'an integer', '"9007199254740993"'],
      ['1e3', '', 'an integer', '"1e3"'],
      ['0x10', '', 'an integer', '"0x10"'],
      ['', '', 'an integer', '""'],
      [1.5, '', 'an integer', '1.5'],
      [true, '', 'an integer', 'true'],
      [[1], '', 'an integer', '[1]'],
      [{}, '', 'an integer', '{}'],
    ],
  },
  'integer[]': {
    good: [
      [
        [1, '2'],
        [1, 2],
      ],
      ['[1]', [1]],
    ],
    bad: [...LIST_BAD('integer'), [[1, 2.5], '[1]', 'an integer', '2.5']],
  },
  boolean: {
    good: [
      [true, true],
      [false, false],
      ['true', true],
      ['false', false],
    ],
    bad: [
      ['', '', 'a boolean', '""'],
      ['TRUE', '', 'a boolean', '"TRUE"'],
      [0, '', 'a boolean', '0'],
      [[], '', 'a boolean', '[]'],
    ],
  },
  'boolean[]': {
    good: [
      [
        ['true', false],
        [true, false],
      ],
      ['[true]', [true]],
    ],
    bad: [...LIST_BAD('boolean'), [[1], '[0]', 'a boolean', '1']],
  },
  object: {
    good: [
      [{ a: [1, null] }, { a: [1, null] }],
      ['{"a":{}}', { a: {} }],
      [{}, {}],
      [deepObject(256), JSON.parse(deepObject(256))],
    ],
    bad: [
      ['', '', 'an object', '""'],
      ['null', '', 'an object', '"null"'],
      ['[]', '', 'an object', '"[]"'],
      ['{a:1}', '', 'an object', '"{a:1}"'],
      [[], '', 'an object', '[]'],
      [5, '', 'an object', '5'],
    ],
  },
  any: {
    good: [
      [5, 5],
      ['{"a":1}', '{"a":1}'],
      [
        [null, { a: 1 }],
        [null, { a: 1 }],
      ],
      [false, false],
    ],
    bad: [],
  },
  http_request: {
    good: [
      [{ url: 'https://a.example' }, { url: 'https://a.example' }],
      ['{"url":"https://a.example"}', { url: 'https://a.example' }],
    ],
    bad: [
      ['https://a.example', '', 'an object', '"https://a.example"'],
      [{ method: 'GET' }, '.url', 'an http or https URL without user name and password', 'none'],
      [{ url: 'ftp://a.example' }, '.url', 'an http or https URL without user name and password', '"ftp://a.example"'],
      [{ url: 'https://a.example', method: 'G T' }, '.method', 'a method of HTTP, such as GET', '"G T"'],
    ],
  },
  data_store: {
    good: [
      ['orders', 'orders'],
      ['ds_1', 'ds_1'],
    ],
    bad: [
      [{ id: 'ds_1' }, '', 'a string', '{"id":"ds_1"}'],
      [['ds_1'], '', 'a string', '["ds_1"]'],
    ],
  },
  app: {
    good: [[{ authProvisionId: 'apn_slack', more: 1 }, { authProvisionId: 'apn_slack' }]],
    over: { app: 'slack' },
    bad: [
      ['apn_slack', '', '{authProvisionId: "apn_…"}', '"apn_slack"'],
      [{ id: 'apn_slack' }, '', '{authProvisionId: "apn_…"}', '{"id":"apn_slack"}'],
      [{ authProvisionId: 5 }, '', '{authProvisionId: "apn_…"}', '{"authProvisionId":5}'],
    ],
  },
  '$.airtable.baseId': { good: [['app1', 'app1']], bad: [[{}, '', 'a string', '{}']] },
  '$.discord.channel': { good: [['42', '42']], bad: [[['42'], '', 'a string', '["42"]']] },
  '$.discord.channel[]': { good: [[['42'], ['42']]], bad: [['42', '', 'an array of string', '"42"']] },
};

const good = Object.entries(TABLE).flatMap(([type, row]) =>
  row.good.map(([given, value]) => [type, given, value, row.over ?? {}] as const),
);
const bad = Object.entries(TABLE).flatMap(([type, row]) =>
  row.bad.map((each) => [type, ...each, row.over ?? {}] as const),
);

describe('a value of type', () => {
  it.each(good)('%s: %j is stored as %j when given, sent back and by default', (type, given, value, over) => {
    expect(valuesOf(plan([prop(type, over)], { p: given }))).toEqual({ p: { value } });
    const before = [held(type, { value })];
    expect(valuesOf(plan([prop(type, over)], {}, before))).toEqual({ p: { value } });
    expect(valuesOf(plan([prop(type, over)], { p: value }, before))).toEqual({ p: { value } });
    expect(valuesOf(plan([prop(type, { ...over, default: given })]))).toEqual({ p: { value } });
  });

  it.each(bad)('%s: %j is refused, which names the prop, what is expected and what was given', (...row) => {
    const [type, given, at, expected, actual, over] = row;
    const told = { code: 'source.invalid_prop', message: `prop p${at} must be ${expected}; got ${actual}` };
    const details = { prop: `p${at}`, expected, actual };
    expect(refusal(() => plan([prop(type, over)], { p: given }))).toMatchObject({ ...told, details });
    // Tried as the default of the code, and as a stored value that new code does not allow.
    expect(refusal(() => plan([prop(type, { ...over, default: given as never })]))).toMatchObject(told);
    if (type !== 'http_request') {
      const before = [held(type, { value: given })];
      expect(refusal(() => plan([prop(type, over)], {}, before))).toMatchObject(told);
    }
  });

  it.each(bad.filter(([type]) => !['app', 'http_request', 'object'].includes(type)))(
    '%s: %j is refused with a label too',
    (...row) => {
      const [type, given, at, expected, , over] = row;
      const value = Array.isArray(given) && type.endsWith('[]') ? undefined : given;
      if (value === undefined) return;
      const error = refusal(() => plan([prop(type, over)], { p: { __lv: { label: 'A', value } } }));
      expect(error.message).toMatch(`prop p${at} must be ${expected}; got `);
    },
  );

  it.each([
    ['object', deepObject(257)],
    ['object', deepObject(9_000)],
    ['string[]', nested(257)],
    ['integer[]', nested(30_000)],
    ['http_request', `{"url":"https://a.example","x":${nested(20_000)}}`],
  ])('%s written as text is refused beyond 256 levels, with the numbers', (type, text) => {
    const error = refusal(() => plan([prop(type)], { p: text }));
    expect(error).toMatchObject({ code: 'source.invalid_prop', details: { prop: 'p', limit: 256 } });
    expect(error.message).toMatch(/^prop p must be JSON of at most 256 levels; got more levels/);
  });
});

describe('null', () => {
  it.each(Object.keys(TABLE))('is no value of type %s: it removes the stored one', (type) => {
    const over = { ...TABLE[type]?.over, optional: true };
    const [, value] = TABLE[type]?.good[0] ?? [];
    const before = [held(type, { value })];
    expect(valuesOf(plan([prop(type, over)], { p: null }, before))).toEqual({});
    const required = { ...TABLE[type]?.over };
    if (type === 'app') return;
    const error = refusal(() => plan([prop(type, required)], { p: null }, before));
    expect(error.message).toBe(`prop p (${type}) is required: give it in configured_props`);
  });
});

describe('min and max', () => {
  it.each([
    ['integer', 4, 'p', 'an integer of at least 5'],
    ['integer', '10', 'p', 'an integer of at most 9'],
    ['integer[]', [5, 4], 'p[1]', 'an integer of at least 5'],
    ['integer[]', '[10]', 'p[0]', 'an integer of at most 9'],
    ['integer', { __lv: { label: 'Ten', value: 10 } }, 'p', 'an integer of at most 9'],
  ])('of %s refuse %j, naming the place and the limit', (type, given, at, expected) => {
    const error = refusal(() => plan([prop(type, { min: 5, max: 9 })], { p: given }));
    expect(error.message).toMatch(`prop ${at} must be ${expected}; got `);
    expect(error.details).toMatchObject({ prop: at, limit: expected.endsWith('5') ? 5 : 9 });
  });

  it.each(['string', 'any', 'boolean'])('mean nothing to %s', (type) => {
    expect(valuesOf(plan([prop(type, { min: 5, max: 9 })], { p: true }))).toMatchObject({ p: {} });
  });
});

describe('hidden, disabled and read-only props', () => {
  it.each(['hidden', 'disabled', 'readOnly'] as const)('with %s take a value that is given all the same', (flag) => {
    expect(valuesOf(plan([prop('integer', { [flag]: true })], { p: '3' }))).toEqual({ p: { value: 3 } });
    expect(() => plan([prop('integer', { [flag]: true })], { p: 'x' })).toThrow('prop p must be an integer; got "x"');
  });

  it('need no value when they are hidden or disabled, and need one when they are read-only', () => {
    for (const flag of ['hidden', 'disabled']) expect(valuesOf(plan([prop('integer', { [flag]: true })]))).toEqual({});
    expect(() => plan([prop('integer', { readOnly: true })])).toThrow('prop p (integer) is required');
  });
});

describe('props without a configured value', () => {
  it.each([
    ['$.service.db', 'db'],
    ['dir', 'dir'],
    ['alert', undefined],
    ['$.interface.apphook', undefined],
  ] as const)('%s ignores what is given', (type, kind) => {
    const planned = plan([prop(type)], { p: { any: 'thing' } });
    expect(planned.props).toEqual(kind === undefined ? [] : [{ kind, prop: 'p' }]);
    expect(planned.warnings).toEqual([]);
  });
});
