import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from '@jest/globals';
import { checkShape, type JsonObject } from './check-shape.js';
import { checkRules } from './definition-rules.js';
import { limitedTo } from './definition-limits.js';
import { DEFINITION } from './definition-shape.js';
import { nestsTooDeep } from './definition-size.js';
import { expressionTexts, propsWithExpressions } from './expression-texts.js';
import { Findings, pathText } from './findings.js';
import { definitionSchema } from './json-schema.js';
import { readUses } from './uses.js';

const STEP = { namespace: 'a', code: 'export default {}' };
const definition = (more: JsonObject): JsonObject => ({
  name: 'w',
  triggers: [{ type: 'http' }],
  steps: [STEP],
  ...more,
});
const step = (more: JsonObject): JsonObject => definition({ steps: [{ ...STEP, ...more }] });
const trigger = (more: JsonObject): JsonObject => definition({ triggers: [more] });
const settings = (more: JsonObject): JsonObject => definition({ settings: more });
const OWN = { schema: 'sluice.workflow/1' };

const LIMITS = { workflowMemoryMb: 300 };

const check = (given: JsonObject, strict = false): Findings => {
  const found = new Findings(strict);
  checkShape(limitedTo(DEFINITION, LIMITS), given, [], found);
  checkRules(
    given,
    { isSource: (id) => id === 'dc_known', isVariable: (name) => name === 'TOKEN', isPinned: () => false },
    found,
  );
  return found;
};
const errorsOf = (given: JsonObject): string[] =>
  check(given).errors.map(({ path, code }) => `${pathText(path)} ${code}`);
const warningsOf = (given: JsonObject): string[] => check(given).warnings.map(({ path, code }) => `${path} ${code}`);

const matchesSchema = new Ajv2020({ strict: false }).compile(definitionSchema(LIMITS));

describe('a definition', () => {
  it.each<[what: string, given: JsonObject]>([
    ['of a trigger and a step', definition({})],
    ['with an external id and no name', { external_id: 'team/a.b_c-1', steps: [] }],
    [
      'with all settings',
      settings({
        active: false,
        error_notification: false,
        timeout_seconds: 900,
        memory_mb: 64,
        concurrency: null,
        hold_slot: true,
        throttle: { limit: 0, interval: 1, unit: 'hour' },
        queue_size: 10_000,
        auto_retry: { notify_first_error: true, also_on: ['Timeout', 'OutOfMemory'] },
        data_retention: { runs: 1, days: 3650 },
        public_sse: true,
      }),
    ],
    ['with other settings', settings({ auto_retry: true, data_retention: 'none', throttle: null, concurrency: 1 })],
    [
      'with a static response',
      trigger({
        type: 'http',
        name: 'in',
        response: 'static',
        static_response: { status: 204, headers: { 'x-a': 'b' }, body: '' },
      }),
    ],
    ['with a bearer', trigger({ type: 'http', auth: { type: 'bearer', token: '12345678' } })],
    [
      'with a bearer from a variable',
      trigger({ type: 'http', auth: { type: 'bearer', token: '{{process.env.TOKEN}}' } }),
    ],
    ['with the mask of a bearer', trigger({ type: 'http', auth: { type: 'bearer', token: '********' } })],
    ['with an interval', trigger({ type: 'timer', interval_seconds: 15, overlap: 'skip' })],
    ['with cron', trigger({ type: 'timer', cron: '0 9 * * *', timezone: 'Europe/Berlin', interval_seconds: null })],
    ['with a known source', trigger({ type: 'source', id: 'dc_known', event_name: 'x' })],
    ['with an untyped known source', trigger({ id: 'dc_known' })],
    ['with a source of its own', trigger({ type: 'source', uses: 'key@1.0.0', props: { a: 1 } })],
    ['with an event', trigger({ type: 'event', emitter: 'dc_*', filter: { a: 1 } })],
    ['with a tool', trigger({ type: 'tool', description: 'x' })],
    [
      'with a tool and its schema',
      trigger({ type: 'tool', description: 'x', input: { type: 'object' }, annotations: { readOnlyHint: true } }),
    ],
    ['with other triggers', definition({ triggers: [{ type: 'manual' }, { type: 'workflow', name: 'w2' }] })],
    [
      'with a file',
      definition({
        steps: [{ namespace: 'b', runtime: 'nodejs18.x', uses: './b/entry.js', props: {} }],
        files: { 'b/entry.js': 'export default {}' },
      }),
    ],
    [
      'with a handler',
      definition({
        steps: [
          { ...STEP, on_error: 'z' },
          { ...STEP, namespace: 'z', on_error: 'continue' },
        ],
      }),
    ],
    [
      'with a retry',
      step({
        retry: { max_retries: 20, delay_seconds: 86_400, backoff: 'fixed', also_on: ['Timeout'] },
        timeout_seconds: 1,
        if: 'event.a',
        disabled: true,
        name: null,
      }),
    ],
    ['with the longest namespace', step({ namespace: `$${'a'.repeat(63)}` })],
  ])('%s is accepted, and matches the JSON Schema', (_what, given) => {
    const found = check(given, true);
    expect([...found.errors, ...found.warnings]).toEqual([]);
    expect([matchesSchema(given), matchesSchema.errors]).toEqual([true, null]);
  });

  // A fault of the shape is one for the JSON Schema too. It cannot express the rules between values.
  it.each<[error: string, given: JsonObject, byShape: boolean]>([
    ['name required', { steps: [] }, false],
    ['name range', definition({ name: '' }), true],
    ['name range', definition({ name: 'x'.repeat(256) }), true],
    ['name type', definition({ name: 7 }), true],
    ['schema enum', definition({ schema: 'workflow/2023' }), true],
    ['description range', definition({ description: 'x'.repeat(4_097) }), true],
    ['external_id format', definition({ external_id: 'a b' }), true],
    ['settings type', definition({ settings: [] }), true],
    ['settings.timeout_seconds range', settings({ timeout_seconds: 901 }), true],
    ['settings.memory_mb range', settings({ memory_mb: 63 }), true],
    ['settings.memory_mb range', settings({ memory_mb: 301 }), true],
    ['settings.concurrency type', settings({ concurrency: 1.5 }), true],
    ['settings.throttle.unit required', settings({ throttle: { limit: 1, interval: 1 } }), true],
    ['settings.throttle.unit enum', settings({ throttle: { limit: 1, interval: 1, unit: 'day' } }), true],
    ['settings.auto_retry type', settings({ auto_retry: 'yes' }), true],
    ['settings.data_retention enum', settings({ data_retention: 'all' }), true],
    ['settings.data_retention.runs range', settings({ data_retention: { runs: 0 } }), true],
    ['triggers range', definition({ triggers: Array.from({ length: 21 }, () => ({ type: 'manual' })) }), true],
    ['triggers[0].type required', trigger({}), true],
    ['triggers[0].type enum', trigger({ type: 'webhook' }), true],
    ['triggers[0].type enum', trigger({ type: 'constructor' }), true],
    ['triggers[0].type unsupported', trigger({ type: 'email' }), true],
    ['triggers[0].description required', trigger({ type: 'tool' }), true],
    ['triggers[0].description range', trigger({ type: 'tool', description: '' }), true],
    ['triggers[0].description range', trigger({ type: 'tool', description: 'x'.repeat(1_025) }), true],
    ['triggers[0].input type', trigger({ type: 'tool', description: 'x', input: null }), true],
    ['triggers[0].input.type enum', trigger({ type: 'tool', description: 'x', input: { type: 'string' } }), false],
    [
      'triggers[0].input.properties.a.type format',
      trigger({ type: 'tool', description: 'x', input: { type: 'object', properties: { a: { type: 'text' } } } }),
      false,
    ],
    [
      'triggers[0].annotations.readOnlyHint type',
      trigger({ type: 'tool', description: 'x', annotations: { readOnlyHint: 'yes' } }),
      true,
    ],
    ['triggers[0].name format', trigger({ type: 'http', name: '1a' }), true],
    [
      'triggers[1].name duplicate',
      definition({
        triggers: [
          { type: 'http', name: 'x' },
          { type: 'manual', name: 'x' },
        ],
      }),
      false,
    ],
    ['triggers[0].static_response required', trigger({ type: 'http', response: 'static' }), false],
    ['triggers[0].static_response conflict', trigger({ type: 'http', static_response: {} }), false],
    [
      'triggers[0].static_response.status range',
      trigger({ type: 'http', response: 'static', static_response: { status: 99 } }),
      true,
    ],
    [
      'triggers[0].static_response.headers["a b"] format',
      trigger({ type: 'http', response: 'static', static_response: { headers: { 'a b': '' } } }),
      false,
    ],
    [
      'triggers[0].static_response.headers.a format',
      trigger({ type: 'http', response: 'static', static_response: { headers: { a: 'b\r\nset-cookie: c' } } }),
      true,
    ],
    ['triggers[0].auth.token required', trigger({ type: 'http', auth: { type: 'bearer' } }), false],
    ['triggers[0].auth.token conflict', trigger({ type: 'http', auth: { type: 'none', token: '12345678' } }), false],
    ['triggers[0].auth.token format', trigger({ type: 'http', auth: { type: 'bearer', token: '1234567' } }), true],
    ...['{{process.env.NODE_TOKEN}}', '{{process.env.}}', '{{process.env.TOKEN}}x', '{{TOKEN}}x'].map(
      (token): [string, JsonObject, boolean] => [
        'triggers[0].auth.token format',
        trigger({ type: 'http', auth: { type: 'bearer', token } }),
        false,
      ],
    ),
    ['triggers[0].interval_seconds range', trigger({ type: 'timer', interval_seconds: 14 }), true],
    [
      'triggers[0].interval_seconds conflict',
      trigger({ type: 'timer', interval_seconds: 15, cron: '0 9 * * *' }),
      false,
    ],
    ['triggers[0].cron required', trigger({ type: 'timer' }), false],
    ['triggers[0].id required', trigger({ type: 'source' }), false],
    ['triggers[0].uses conflict', trigger({ type: 'source', id: 'dc_known', uses: 'k' }), false],
    ['triggers[0].props conflict', trigger({ type: 'source', id: 'dc_known', props: {} }), false],
    ['triggers[0].id unresolved', trigger({ type: 'source', id: 'dc_other' }), false],
    ['triggers[0].id unresolved', trigger({ id: 'xx_other' }), false],
    ['triggers[0].emitter required', trigger({ type: 'event' }), true],
    [
      'steps range',
      definition({ steps: Array.from({ length: 101 }, (_, i) => ({ ...STEP, namespace: `n${i}` })) }),
      true,
    ],
    ['steps[0] type', definition({ steps: ['a'] }), true],
    ['steps[0].namespace required', definition({ steps: [{ code: 'x' }] }), true],
    ['steps[0].namespace format', step({ namespace: 'trigger' }), true],
    ['steps[0].namespace format', step({ namespace: '__proto__' }), true],
    ['steps[0].namespace format', step({ namespace: 'a-b' }), true],
    ['steps[1].namespace duplicate', definition({ steps: [STEP, STEP] }), false],
    ['steps[0].runtime unsupported', step({ runtime: 'python3.12' }), false],
    ['steps[0].code conflict', step({ uses: 'key' }), false],
    ['steps[0].uses required', definition({ steps: [{ namespace: 'a' }] }), false],
    ['steps[0].uses unresolved', definition({ steps: [{ namespace: 'a', uses: './x.js' }] }), false],
    ['steps[0].uses unresolved', definition({ steps: [{ namespace: 'a', uses: './constructor' }] }), false],
    ['steps[0].for_each range', step({ for_each: '' }), true],
    ['steps[0].concurrency range', step({ for_each: '[1]', concurrency: 101 }), true],
    ['steps[0].concurrency conflict', step({ concurrency: 2 }), false],
    ['steps[0].retry.max_retries range', step({ retry: { max_retries: 50 } }), true],
    ['steps[0].retry.max_retries required', step({ retry: {} }), true],
    ['steps[0].timeout_seconds range', step({ timeout_seconds: 0 }), true],
    ['steps[0].on_error unresolved', step({ on_error: 'nobody' }), false],
    ['steps[1].on_error conflict', definition({ steps: [STEP, { ...STEP, namespace: 'b', on_error: 'a' }] }), false],
    ['steps[0].on_error conflict', step({ on_error: 'a' }), false],
    ['files["../x"] format', definition({ files: { '../x': '' } }), false],
    ['files.x type', definition({ files: { x: 1 } }), true],
  ])('with %s is refused: %j', (error, given, byShape) => {
    expect(errorsOf(given)).toEqual([error]);
    expect(matchesSchema(given)).toBe(!byShape);
  });

  it('has all its errors told at once, up to 50', () => {
    const broken = {
      name: 1,
      triggers: [{ type: 'email' }, {}],
      steps: [{ namespace: 'trigger', uses: 'a', code: 'b' }],
    };
    expect(errorsOf(broken)).toEqual([
      ...['name type', 'triggers[0].type unsupported', 'triggers[1].type required', 'steps[0].namespace format'],
      'steps[0].code conflict',
    ]);
    expect(errorsOf(definition({ steps: Array.from({ length: 90 }, () => ({})) }))).toHaveLength(50);
  });

  it.each<[warning: string, given: JsonObject]>([
    ['steps[0].nmae unknown_key', step({ nmae: 'x' })],
    ['stps unknown_key', definition({ stps: [] })],
    ['__proto__ unknown_key', JSON.parse('{"name":"w","__proto__":{"x":1}}') as JsonObject],
    [
      'triggers[0].auth.token variable_not_found',
      trigger({ type: 'http', auth: { type: 'bearer', token: '{{process.env.GONE}}' } }),
    ],
    ['triggers[0].id imported_trigger', trigger({ id: 'hi_ZbHvJ98' })],
    ['triggers[0].id trigger_ignored', trigger({ id: 'ti_ZbHvJ98' })],
    ['triggers[0].id trigger_ignored', trigger({ id: 'ei_ZbHvJ98' })],
    ['triggers[0].id trigger_ignored', trigger({ id: 'dc_other' })],
  ])('has a warning %s, which strict makes an error: %j', (warning, given) => {
    expect(errorsOf(given)).toEqual([]);
    expect(warningsOf(given)).toEqual([warning]);
    expect(check(given, true).errors.map(({ path, code }) => `${pathText(path)} ${code}`)).toEqual([warning]);
    expect(check(given, true).warnings).toEqual([]);
  });

  it('with the own schema has errors for what is not here', () =>
    expect(errorsOf({ ...trigger({ id: 'hi_ZbHvJ98' }), ...OWN })).toEqual(['triggers[0].id unresolved']));

  it('has at most 50 warnings, and tells what a key is probably meant to be', () => {
    const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`unknown${i}`, 1]));
    expect(warningsOf(definition(keys))).toHaveLength(50);
    expect(check(definition({ setings: {} })).warnings[0]?.message).toContain('did you mean settings?');
  });

  it('does not show a token', () => {
    const { errors } = check(trigger({ type: 'http', auth: { type: 'bearer', token: 's3cret\u00e9abc' } }));
    const number = check(trigger({ type: 'http', auth: { type: 'bearer', token: 12_345_678 } })).errors;
    expect(JSON.stringify([errors, number])).not.toMatch(/s3cret|12345678/);
    expect([errors, number]).toMatchObject([[{ code: 'format' }], [{ code: 'type' }]]);
  });

  it('may have 64 levels', () => {
    const nested = (levels: number): unknown => Array.from({ length: levels }).reduce((inner) => [inner], 1);
    expect([nestsTooDeep(nested(64)), nestsTooDeep(nested(65))]).toEqual([false, true]);
  });
});

describe('the expressions of a definition', () => {
  it('are those of `if` and of the props of steps', () => {
    const given = step({ if: 'a', props: { p: '{{ b }}', q: ['x', { r: ['{{c}}'] }], s: 'plain' }, name: '{{ no }}' });
    expect(expressionTexts(given).map(({ path, text }) => [pathText(path), text])).toEqual([
      ['steps[0].if', 'a'],
      ['steps[0].props.p', '{{ b }}'],
      ['steps[0].props.q[1].r[0]', '{{c}}'],
    ]);
    expect([...propsWithExpressions({ p: '{{ b }}', q: [{ r: '{{' }], s: 'plain', '{{k}}': 1 })]).toEqual(['p', 'q']);
  });
});

describe('uses', () => {
  it.each([
    ['./a/b.js', { kind: 'file', path: 'a/b.js' }],
    ['sc_x', { kind: 'id', id: 'sc_x' }],
    ['key', { kind: 'key', key: 'key', ownOnly: false }],
    ['key@1.0.0', { kind: 'key', key: 'key', version: '1.0.0', ownOnly: false }],
    ['key@^1.0.0', { kind: 'key', key: 'key', version: '^1.0.0', ownOnly: false }],
    ['@team/key', { kind: 'key', key: 'key', ownOnly: true }],
    ['@team/key@1.0.0', { kind: 'key', key: 'key', version: '1.0.0', ownOnly: true }],
    ['key@', { kind: 'key', key: 'key', version: '', ownOnly: false }],
    ['', { kind: 'key', key: '', ownOnly: false }],
  ])('of %j', (text, uses) => expect(readUses(text)).toEqual(uses));
});
