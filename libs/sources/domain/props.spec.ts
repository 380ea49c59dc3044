import { describe, expect, it } from '@jest/globals';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { propsOf, type Timer } from '../published.js';
import { boundValue } from './bound-value.js';
import { SECRET_MASK } from './secret-mask.js';
import { held, plan, prop, refusal, valuesOf } from '../testing/planned-props.js';

describe('values', () => {
  // docs/reference/rest-api.md#configured-props-types
  it.each<[string, unknown, unknown]>([
    ['string', 'a', 'a'],
    ['string', '', ''],
    ['string', 5, '5'],
    ['string', true, 'true'],
    ['integer', 5, 5],
    ['integer', ' -7 ', -7],
    ['boolean', false, false],
    ['boolean', 'true', true],
    ['object', { a: { b: 1 } }, { a: { b: 1 } }],
    ['object', '{"a":1}', { a: 1 }],
    ['any', [1, { a: 2 }], [1, { a: 2 }]],
    ['some_word', 5, 5],
    ['string[]', ['a', 1], ['a', '1']],
    ['string[]', '["a"]', ['a']],
    ['string[]', [], []],
    ['integer[]', ['1', 2], [1, 2]],
    ['boolean[]', ['false', true], [false, true]],
    ['http_request', { method: 'GET', url: 'https://a.example' }, { method: 'GET', url: 'https://a.example' }],
    ['$.discord.channel', '42', '42'],
    ['$.discord.channel[]', ['42'], ['42']],
  ])('%s accepts %j as %j', (type, given, value) => {
    expect(valuesOf(plan([prop(type)], { p: given }))).toEqual({ p: { value } });
  });

  // docs/reference/rest-api.md#configured-props-types
  it.each<[string, unknown, RegExp]>([
    ['string', { a: 1 }, /prop p must be a string; got \{"a":1\}/],
    ['string', ['a'], /must be a string/],
    ['integer', 1.5, /must be an integer; got 1.5/],
    ['integer', 'five', /must be an integer; got "five"/],
    ['integer', '', /must be an integer/],
    ['integer', 2 ** 60, /must be an integer/],
    ['integer', true, /must be an integer/],
    ['boolean', 'yes', /must be a boolean; got "yes"/],
    ['boolean', 1, /must be a boolean/],
    ['object', [1], /must be an object/],
    ['object', 'text', /must be an object/],
    ['string[]', 'a', /must be an array of string; got "a"/],
    ['integer[]', [1, 'x'], /prop p\[1\] must be an integer; got "x"/],
    ['app', 'apn_1', /must be \{authProvisionId/],
    ['app', { authProvisionId: '' }, /must be \{authProvisionId/],
    ['string', { __lv: { label: 'A' } }, /must be \{__lv: \{label, value\}\}/],
    ['integer', { __lv: { label: 'A', value: 'x' } }, /must be an integer/],
  ])('%s refuses %j', (type, given, message) => {
    const error = refusal(() => plan([prop(type)], { p: given }));
    expect(error.code).toBe('source.invalid_prop');
    expect(error.message).toMatch(message);
    expect(error.details).toMatchObject({ expected: expect.any(String), actual: expect.anything() });
  });

  it.each([
    [{ min: 3 }, 2, 3, /at least 3; got 2/],
    [{ max: 3 }, 4, 3, /at most 3; got 4/],
  ])('integer with %j refuses %i, naming the limit', (over, given, limit, message) => {
    const error = refusal(() => plan([prop('integer', over)], { p: given }));
    expect(error.message).toMatch(message);
    expect(error.details).toMatchObject({ prop: 'p', limit, actual: given });
    expect(() => plan([prop('integer[]', over)], { p: [given] })).toThrow(message);
    expect(valuesOf(plan([prop('integer', over)], { p: limit }))).toEqual({ p: { value: limit } });
  });

  it('are at most 64 KB', () => {
    expect(() => plan([prop('string')], { p: 'é'.repeat(32_768) })).not.toThrow();
    const error = refusal(() => plan([prop('string')], { p: 'é'.repeat(32_769) }));
    expect(error.details).toMatchObject({ prop: 'p', limit: 65_536, actual: '65538 bytes' });
    expect(() => plan([prop('any')], { p: Array.from({ length: 40_000 }, () => 1) })).toThrow(/65536 bytes/);
  });

  it.each<[string, Partial<ConfigurableProp>, unknown, string]>([
    [
      'a text',
      { options: ['red', 'blue'] },
      'Red',
      'prop p got "Red", which is none of its options; did you mean "red"?: "red", "blue"',
    ],
    [
      'a number',
      { options: [1, { label: 'Two', value: 2 }] },
      3,
      'prop p got "3", which is none of its options: "1", "2"',
    ],
    [
      'one with a label',
      { options: ['a'] },
      { __lv: { label: 'B', value: 'b' } },
      'prop p got "b", which is none of its options: "a"',
    ],
  ])('outside the options are accepted with a warning: %s', (_, over, given, message) => {
    const { props, warnings } = plan([prop('string', over)], { p: given });
    expect(props.map(({ prop: name }) => name)).toEqual(['p']);
    expect(warnings).toEqual([
      { code: 'not_an_option', message: message.replace('"3"', '3'), path: 'configured_props.p' },
    ]);
  });

  it('among the options give no warning, and neither do secrets and options from a function', () => {
    const all = { options: ['1', { label: 'Two', value: 2 }] };
    for (const given of ['1', 2, { __lv: { label: 'Two', value: 2 } }])
      expect(plan([prop('any', all)], { p: given }).warnings).toEqual([]);
    expect(plan([prop('string', { ...all, secret: true })], { p: 'x' }).warnings).toEqual([]);
    expect(plan([prop('string', { options: ['a'], remoteOptions: true })], { p: 'x' }).warnings).toEqual([]);
  });

  it('of unknown props are dropped, also under names of JavaScript properties', () => {
    const given = JSON.parse('{"p":"a","other":1,"__proto__":{"x":1},"constructor":2}') as Record<string, unknown>;
    expect(valuesOf(plan([prop('string')], given))).toEqual({ p: { value: 'a' } });
    expect(() => plan([{ name: 'constructor', type: 'string' }])).toThrow(/required/);
  });
});

describe('required and default', () => {
  // docs/reference/rest-api.md#configured-props-required
  it.each([
    ['string', {}],
    ['integer[]', {}],
    ['object', {}],
    ['http_request', {}],
    ['$.interface.timer', {}],
    ['string', { secret: true }],
  ])('%s %j is required', (type, over) => {
    for (const given of [{}, { p: null }, { p: undefined }]) {
      const error = refusal(() => plan([prop(type, over)], given));
      expect(error).toMatchObject({ code: 'source.missing_prop', details: { prop: 'p', expected: type } });
    }
  });

  it.each([
    ['string', { optional: true }],
    ['string', { hidden: true }],
    ['string', { disabled: true }],
    ['app', {}],
    ['alert', {}],
    ['dir', {}],
    ['data_store', { optional: true }],
    ['$.interface.timer', { optional: true }],
  ])('%s %j may be without a value', (type, over) => {
    const planned = plan([prop(type, over)]);
    expect([valuesOf(planned), propsOf(planned, 'timer'), planned.secrets]).toEqual([{}, [], []]);
  });

  it.each([
    ['string', 'x', 'x'],
    ['integer', 200, 200],
    ['boolean', false, false],
    ['object', { a: 1 }, { a: 1 }],
    ['string[]', ['a'], ['a']],
  ])('a default of any type stands in for a missing %s', (type, def, value) => {
    expect(valuesOf(plan([prop(type, { default: def })]))).toEqual({ p: { value } });
    expect(valuesOf(plan([prop(type, { default: def, optional: true })], { p: null }))).toEqual({ p: { value } });
  });

  it('never gives a value to an alert or a db', () => {
    const given = { a: 'text', d: { x: 1 } };
    const planned = plan([prop('alert', { name: 'a' }), prop('$.service.db', { name: 'd' })], given);
    expect(planned.props).toEqual([{ kind: 'db', prop: 'd' }]);
  });

  // docs/reference/rest-api.md#configured-props
  it('names the first wrong prop in declaration order', () => {
    const props = [prop('string', { name: 'a' }), prop('string', { name: 'b' })];
    expect(refusal(() => plan(props)).details).toMatchObject({ prop: 'a' });
  });
});

describe('a value chosen with its label', () => {
  const labelled = { __lv: { label: 'One', value: '1' } };
  // docs/reference/rest-api.md#configured-label
  it('is stored as given and bound as its value', () => {
    expect(valuesOf(plan([prop('integer')], { p: labelled }))).toEqual({ p: { value: labelled } });
    expect(boundValue({ kind: 'value', prop: 'p', value: labelled })).toBe('1');
  });

  it('is bound with its label when the prop has withLabel', () => {
    expect(valuesOf(plan([prop('string', { withLabel: true })], { p: labelled }))).toEqual({
      p: { value: labelled, withLabel: true },
    });
    expect(boundValue({ kind: 'value', prop: 'p', value: labelled, withLabel: true })).toEqual({
      label: 'One',
      value: '1',
    });
    expect(boundValue({ kind: 'value', prop: 'p', value: 'bare', withLabel: true })).toBe('bare');
  });

  // docs/reference/rest-api.md#configured-label
  it('may be a list', () => {
    const list = {
      __lv: [
        { label: 'A', value: 'a' },
        { label: 'B', value: 'b' },
      ],
    };
    expect(valuesOf(plan([prop('string[]')], { p: list }))).toEqual({ p: { value: list } });
    expect(boundValue({ kind: 'value', prop: 'p', value: list })).toEqual(['a', 'b']);
  });
});

describe('secrets', () => {
  const secret = prop('string', { secret: true });

  // docs/reference/rest-api.md#secret-mask
  it('are not repeated in the error that refuses them', () => {
    const hush = 'hush-1234567890';
    for (const given of [
      [hush],
      { a: hush },
      { __lv: [{ value: hush }] },
      { __lv: { value: { hush } } },
      { __lv: hush },
    ]) {
      const error = refusal(() => plan([secret], { p: given }));
      expect(error.code).toBe('source.invalid_prop');
      expect(JSON.stringify([error.message, error.details])).not.toContain('hush');
      // Control: the error shows a value that is not secret, so that the caller finds it.
      expect(refusal(() => plan([prop('integer')], { p: given })).message).toContain('hush');
    }
  });

  it('go to the vault, with only a reference in the definition', () => {
    const planned = plan([secret], { p: 'hush' });
    expect(valuesOf(planned)).toEqual({ p: { secretRef: 'sec_1' } });
    expect(planned.secrets).toEqual([{ ref: 'sec_1', text: 'hush' }]);
  });

  it('are kept when left out, or when the mask is sent back', () => {
    const before = [held('string', { secretRef: 'sec_old' })];
    for (const given of [{}, { p: SECRET_MASK }]) {
      expect(plan([secret], given, before)).toMatchObject({ props: before, secrets: [] });
    }
  });

  it('are replaced by another text and removed by null', () => {
    const before = [held('string', { secretRef: 'sec_old' })];
    expect(valuesOf(plan([secret], { p: 'new' }, before))).toEqual({ p: { secretRef: 'sec_1' } });
    expect(valuesOf(plan([prop('string', { secret: true, optional: true })], { p: null }, before))).toEqual({});
  });

  // docs/reference/rest-api.md#secret-mask
  it('cannot be the mask when none is stored', () => {
    expect(() => plan([secret], { p: SECRET_MASK })).toThrow(/the mask \*{8}, but no secret is stored/);
    expect(valuesOf(plan([prop('string')], { p: SECRET_MASK }))).toEqual({ p: { value: SECRET_MASK } });
  });

  // docs/reference/rest-api.md#secret-mask
  it('stay secret when the new code does not mark them, and become secret when it does', () => {
    const before = [held('string', { secretRef: 'sec_old' })];
    expect(valuesOf(plan([prop('string')], {}, before))).toEqual({ p: { secretRef: 'sec_old' } });
    const plain = [held('string', { value: 'was plain' })];
    expect(plan([secret], {}, plain).secrets).toEqual([{ ref: 'sec_1', text: 'was plain' }]);
  });

  it('must be of type string', () => {
    expect(() => plan([prop('string[]', { secret: true })], { p: ['a'] })).toThrow(/of type string/);
  });
});

describe('endpoints', () => {
  it('are allocated regardless of given values, with the custom response of the code', () => {
    const props = [prop('$.interface.http', { customResponse: true }), prop('$.interface.http', { name: 'q' })];
    expect(plan(props, { p: { endpoint_url: 'https://evil.example' } }).props).toEqual([
      { kind: 'http', prop: 'p', key: 'ekey1', customResponse: true },
      { kind: 'http', prop: 'q', key: 'ekey2', customResponse: false },
    ]);
  });

  // docs/reference/rest-api.md#endpoint-key
  it('keep their key over updates, by prop name', () => {
    const before = [{ kind: 'http', prop: 'p', key: 'eold', customResponse: false }] as const;
    const props = [prop('$.interface.http', { customResponse: true }), prop('$.interface.http', { name: 'q' })];
    expect(propsOf(plan(props, { p: null }, before), 'http')).toEqual([
      { kind: 'http', prop: 'p', key: 'eold', customResponse: true },
      { kind: 'http', prop: 'q', key: 'ekey1', customResponse: false },
    ]);
  });
});

describe('timers', () => {
  const timer = (over: Partial<ConfigurableProp> = {}): ConfigurableProp => prop('$.interface.timer', over);

  it('says what a time looks like when there is none', () => {
    expect(refusal(() => plan([timer()], {}))).toMatchObject({
      message:
        'prop p ($.interface.timer) has no time: give {"intervalSeconds": 900} or {"cron": "0 9 * * *"} in configured_props, or as the default of the prop',
    });
  });

  const every = (intervalSeconds: number): Timer => ({
    kind: 'timer',
    prop: 'p',
    cron: null,
    intervalSeconds,
    timezone: null,
  });
  const cron = (text: string, timezone: string | null = null): Timer => ({
    kind: 'timer',
    prop: 'p',
    cron: text,
    intervalSeconds: null,
    timezone,
  });

  // docs/reference/rest-api.md#configured-timer
  it.each<[unknown, unknown]>([
    [{ intervalSeconds: 15 }, every(15)],
    [{ interval_seconds: '900' }, every(900)],
    [{ cron: null, interval_seconds: 60 }, every(60)],
    [{ intervalSeconds: 60, timezone: 'Europe/Berlin' }, every(60)],
    [{ cron: '*/5 * * * *' }, cron('*/5 * * * *')],
    [{ cron: ' 0  9 * * MON-FRI ', timezone: 'Europe/Berlin' }, cron('0 9 * * MON-FRI', 'Europe/Berlin')],
    [{ cron: '0 0 29 2 *', interval_seconds: null }, cron('0 0 29 2 *')],
    [{ cron: '*/15 * * * * *' }, cron('*/15 * * * * *')],
    [{ cron: '30 0 9 * * *' }, cron('30 0 9 * * *')],
  ])('take %j', (given, expected) => {
    expect(propsOf(plan([timer()], { p: given }), 'timer')).toEqual([expected]);
  });

  // docs/reference/rest-api.md#configured-timer
  it.each<[unknown, RegExp]>([
    [{ intervalSeconds: 14 }, /at least 15 seconds; got 14/],
    [{ intervalSeconds: 0 }, /at least 15 seconds/],
    [{ intervalSeconds: 1e12 }, /at most 31622400 seconds/],
    [{ intervalSeconds: 20.5 }, /is an integer; got 20.5/],
    [{ intervalSeconds: '15s' }, /is an integer/],
    [{}, /one of \{intervalSeconds\} or \{cron, timezone\?\}/],
    [{ intervalSeconds: 60, cron: '* * * * *' }, /got both/],
    [60, /must be \{intervalSeconds\} or/],
    [[60], /must be \{intervalSeconds\} or/],
    [{ cron: 'every day' }, /5 fields/],
    [{ cron: '61 * * * *' }, /5 fields.*got "61 \* \* \* \*"/],
    [{ cron: '@daily' }, /5 fields/],
    [{ cron: '0 0 30 2 *' }, /matches at least one date/],
    [{ cron: '* * * * * *' }, /at least 15 seconds between two ticks/],
    [{ cron: '0,50 * * * * *' }, /which leaves 10/],
    [{ cron: '0 9 * * *', timezone: 'Mars/Olympus' }, /IANA name.*got "Mars\/Olympus"/],
    [{ cron: '0 9 * * *', timezone: 5 }, /IANA name/],
    [{ cron: 5 }, /5 fields/],
    [{ cron: `1${',1'.repeat(1_000_000)} * * * *` }, /cron has at most 256 characters; got 2000009 characters/],
    [{ cron: `${' '.repeat(2_000_000)}* * * * *` }, /cron has at most 256 characters/],
    [{ cron: '0 9 * * *', timezone: 'A'.repeat(2_000_000) }, /timezone has at most 64 characters; got 2000000/],
    [{ intervalSeconds: '9'.repeat(2_000_000) }, /intervalSeconds has at most 32 characters/],
  ])('refuse %j', (given, message) => {
    const error = refusal(() => plan([timer()], { p: given }));
    expect(error).toMatchObject({ code: 'source.invalid_prop', details: { prop: 'p' } });
    expect(error.message).toMatch(message);
  });

  // docs/reference/rest-api.md#configured-timer
  it('prefer static, then given, then stored, then default', () => {
    const withDefault = timer({ default: { intervalSeconds: 900 } });
    const before = [every(120)];
    expect(propsOf(plan([withDefault]), 'timer')).toEqual([every(900)]);
    expect(propsOf(plan([withDefault], {}, before), 'timer')).toEqual([every(120)]);
    expect(propsOf(plan([withDefault], { p: { intervalSeconds: 60 } }, before), 'timer')).toEqual([every(60)]);
    expect(propsOf(plan([withDefault], { p: null }, before), 'timer')).toEqual([every(900)]);
    const fixed = timer({ static: { intervalSeconds: 30 }, default: { intervalSeconds: 900 } });
    expect(propsOf(plan([fixed], { p: { intervalSeconds: 60 } }, before), 'timer')).toEqual([every(30)]);
  });

  it('check values in the code too', () => {
    expect(() => plan([timer({ static: { intervalSeconds: 1 } })])).toThrow(/at least 15/);
    expect(() => plan([timer({ default: { intervalSeconds: 1 } })])).toThrow(/at least 15/);
  });
});

describe('an update', () => {
  const before = [
    held('string', { value: 'kept' }, 'a'),
    held('integer', { value: 1 }, 'gone'),
    held('string', { value: 'old' }, 'b'),
  ];
  const props = [prop('string', { name: 'a' }), prop('string', { name: 'b', optional: true })];

  it('merges per key: an omitted key keeps, null removes, and props that the code lacks are dropped', () => {
    expect(valuesOf(plan(props, {}, before))).toEqual({ a: { value: 'kept' }, b: { value: 'old' } });
    expect(valuesOf(plan(props, { b: null }, before))).toEqual({ a: { value: 'kept' } });
    expect(valuesOf(plan(props, { b: 'new' }, before))).toEqual({ a: { value: 'kept' }, b: { value: 'new' } });
  });

  it('does not remove a required value', () => {
    expect(refusal(() => plan(props, { a: null }, before)).code).toBe('source.missing_prop');
  });

  it('checks kept values against the new code', () => {
    expect(() => plan([prop('integer', { name: 'a' })], {}, before)).toThrow(/prop a must be an integer; got "kept"/);
  });
});
