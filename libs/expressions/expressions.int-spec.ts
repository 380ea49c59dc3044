import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { detectIsolation, tryLevel } from '#libs/sandbox/index.js';
import { Expressions, type ExpressionScope, type PropType } from './index.js';

const EVENT = { n: 2, text: 'hi', list: [3, 1, 2], nested: { '{{key}}': 'v' }, none: null };
const SCOPE: ExpressionScope = {
  steps: {
    trigger: JSON.stringify({ event: EVENT, context: { id: 'run_1' } }),
    a: JSON.stringify({ $return_value: 41, rows: [{ id: 1 }] }),
  },
  env: JSON.stringify({ TOKEN: 's3cret' }),
};

describe('expressions in the jail', () => {
  let expressions: Expressions;

  beforeAll(async () => {
    expressions = new Expressions(await detectIsolation('auto'));
  });
  afterAll(() => expressions.close());

  const props = async (values: object, types: readonly PropType[] = [], scope = SCOPE): Promise<unknown> => {
    const outcome = await expressions.evaluate(JSON.stringify(values), scope, types);
    if (!outcome.ok) throw Object.assign(new Error(outcome.error.message), { name: outcome.error.name });
    return JSON.parse(outcome.json);
  };
  const value = async (text: unknown, scope = SCOPE): Promise<unknown> =>
    ((await props({ p: text }, [], scope)) as { p?: unknown }).p;
  const failure = async (text: unknown, types: readonly PropType[] = []): Promise<string> => {
    const outcome = await expressions.evaluate(JSON.stringify({ p: text }), SCOPE, types);
    return outcome.ok ? `no error: ${outcome.json}` : `${outcome.error.name} ${outcome.error.message}`;
  };

  it.each<[text: unknown, result: unknown]>([
    // What they see.
    ['{{ steps.a.$return_value + 1 }}', 42],
    ['{{ event.n }}', 2],
    ['{{ event === steps.trigger.event }}', true],
    ['{{ \\u0065vent.n }}', 2],
    ['{{ steps.trigger.context.id }}', 'run_1'],
    ['{{ process.env.TOKEN }}', 's3cret'],
    ['{{ Object.keys(steps) }}', ['trigger', 'a']],
    ['{{ Object.keys(process) }}', ['env']],
    ['{{ [item, index].map((each) => typeof each) }}', ['undefined', 'undefined']],
    // One expression keeps its type.
    ['{{ 1 + 1 }}', 2],
    ['{{ {a:{b:1}} }}', { a: { b: 1 } }],
    ['{{ [1, "a", null] }}', [1, 'a', null]],
    ['{{ null }}', null],
    ['{{ undefined }}', undefined],
    ['{{ "" }}', ''],
    ['{{ false }}', false],
    ['{{ new Date(0) }}', '1970-01-01T00:00:00.000Z'],
    ['{{ new Map([[1, 2]]) }}', {}],
    ['{{ {a: undefined, b: () => 1} }}', {}],
    // Within other text.
    ['a{{1}}b', 'a1b'],
    ['{{ event.text }}, {{ event.n }}!', 'hi, 2!'],
    ['[{{ null }}{{ undefined }}{{ event.none }}{{ event.missing }}]', '[]'],
    ['x {{ {a: [1]} }}', 'x {"a":[1]}'],
    ['{{ true }} {{ new Date(0) }}', 'true 1970-01-01T00:00:00.000Z'],
    [' {{ 1 }}', ' 1'],
    ['\\{{x}}', '{{x}}'],
    ['plain', 'plain'],
    [5, 5],
    // In lists and objects, but not in keys.
    [{ '{{1}}': ['{{ 1 }}', { deep: 'a{{ 2 }}' }] }, { '{{1}}': [1, { deep: 'a2' }] }],
    [{ gone: '{{ undefined }}', list: ['{{ undefined }}'] }, { list: [null] }],
    [JSON.parse('{"__proto__": "{{ 1 }}"}'), JSON.parse('{"__proto__": 1}')],
    // The language.
    ['{{ event.list.sort().join() }}', '1,2,3'],
    ['{{ [...(function* () { yield 1; yield 2; })()] }}', [1, 2]],
    ['{{ event?.a?.b ?? `none of ${event.n}` }}', 'none of 2'],
    ['{{ new Intl.NumberFormat("en").format(1e6) }}', '1,000,000'],
    ['{{ (() => { try { null.x } catch (e) { return [e instanceof TypeError, e.name] } })() }}', [true, 'TypeError']],
    ['{{ (() => { const o = {}; o.toString = () => "own"; return `${o}` })() }}', 'own'],
    [
      '{{ (() => { class E extends Error { constructor() { super("m"); this.name = "E" } } return String(new E()) })() }}',
      'E: m',
    ],
    ['{{ Object.assign({}, {constructor: 1, valueOf: 2}) }}', { constructor: 1, valueOf: 2 }],
    ['{{ event.nested["{{key}}"] }}', 'v'],
    ['{{ (x => { steps.b = x; return steps })(1).b }}', 1],
    ['{{ JSON.stringify(steps.a) }}', '{"$return_value":41,"rows":[{"id":1}]}'],
  ])('%j is %j', async (text, result) => expect(await value(text)).toEqual(result));

  it('see the item of a list and its index', async () => {
    const scope = { ...SCOPE, item: '{"id":7}', index: 0 };
    expect(await value('{{ item.id }}-{{ index }}', scope)).toBe('7-0');
    expect(await value('{{ typeof item }}')).toBe('undefined');
  });

  it.each<[type: string, text: unknown, result: unknown]>([
    ['integer', '{{ 1+1 }}', 2],
    ['integer', '1{{ 2 }}', 12],
    ['boolean', '{{ "true" }}', true],
    ['object', '{"a": {{ 1 }}}', { a: 1 }],
    ['string[]', '{{ ["a", 1] }}', ['a', '1']],
    ['integer[]', '["1", {{ 2 }}]', [1, 2]],
    ['string', '{{ 5 }}', '5'],
    ['string', '{{ {a: 1} }}', '{"a":1}'],
  ])('become values of a prop of type %s: %j', async (type, text, result) =>
    expect(await props({ p: text }, [{ name: 'p', type }])).toEqual({ p: result }),
  );

  it.each<[text: unknown, type: PropType, message: string]>([
    ['{{ "x" }}', { name: 'p', type: 'integer' }, 'ConfigurationError props.p: must be an integer, not "x"'],
    ['{{ [1, "b"] }}', { name: 'p', type: 'integer[]' }, 'ConfigurationError props.p[1]: must be an integer, not "b"'],
    [
      '{{ undefined }}',
      { name: 'p', type: 'string' },
      'ConfigurationError props.p: is required and has no value: give it a string',
    ],
    [
      'a',
      { name: 'other', type: 'string' },
      'ConfigurationError props.other: is required and has no value: give it a string',
    ],
  ])('that do not fit fail the step: %j', async (text, type, message) =>
    expect(await failure(text, [type])).toBe(message),
  );

  it.each<[text: unknown, message: RegExp]>([
    ['{{ nope }}', /^ExpressionError props\.p: ReferenceError: nope is not defined$/],
    ['a{{ event.missing.x }}', /^ExpressionError props\.p: TypeError: Cannot read properties of undefined/],
    [{ list: ['', '{{ nope }}'] }, /^ExpressionError props\.p\.list\[1\]: ReferenceError/],
    ['{{ (() => { throw "text" })() }}', /^ExpressionError props\.p: it threw text$/],
    ['{{ (() => { throw null })() }}', /^ExpressionError props\.p: it threw null$/],
    ['{{ steps. }}', /^ExpressionError props\.p: Unexpected token \(at 11\)$/],
    ['{{ a b }}', /^ExpressionError props\.p: "}}" is expected/],
    ['{{ yield }}', /^ExpressionError props\.p: SyntaxError: /],
    ['{{ () => 1 }}', /^ExpressionError props\.p: its value, a function, has no JSON$/],
    ['x {{ Symbol() }}', /^ExpressionError props\.p: its value, a symbol, has no JSON$/],
    ['{{ 1n }}', /^ExpressionError props\.p: its value, a bigint, has no JSON$/],
    ['{{ 0 / 0 }}', /^ExpressionError props\.p: its value, NaN, has no JSON$/],
    ['{{ {a: 1n} }}', /^ExpressionError props\.p: TypeError: Do not know how to serialize a BigInt$/],
    [
      '{{ (() => { const a = []; a[0] = a; return a })() }}',
      /^ExpressionError props\.p: TypeError: Converting circular/,
    ],
    ['{{ (() => { throw new Error("x".repeat(1e6)) })() }}', /^ExpressionError props\.p: Error: x{900,1000}$/],
    ['{{ (function f() { return f() })() }}', /^ExpressionError props\.p: RangeError: Maximum call stack/],
    ['{{ "x".repeat(7e6) }}', /^FunctionPayloadLimitExceeded props\.p: .* 7000002 bytes or more, at most 6291456/],
    [Array(4).fill('{{ "x".repeat(2e6) }}'), /^FunctionPayloadLimitExceeded props\.p\[3\]: /],
    ['{{ Array.from({length: 300}).reduce((a) => [a], 1) }}', /^JSONNestedPropertyLimitExceeded props\.p: /],
  ])('that throw or have no JSON fail the step, naming the place: %j', async (text, message) =>
    expect(await failure(text)).toMatch(message),
  );

  it.each([
    ...['require("fs")', 'module', 'exports', '__filename', 'import("fs")', 'import.meta', 'process.binding("fs")'],
    ...[
      'process.mainModule.require("fs")',
      'fetch',
      'XMLHttpRequest',
      'WebSocket',
      'Buffer.from("a")',
      'URL',
      'crypto',
    ],
    ...['setTimeout(() => 1)', 'setInterval', 'setImmediate', 'queueMicrotask', 'process.nextTick(() => 1)'],
    ...['Promise.resolve(1)', 'new Promise(() => 1)', '(async () => 1)()', '(async function* () {})()'],
    ...['await 1', '(() => {}).constructor("return 1")()', 'eval("1")', 'new Function("return 1")()', 'Atomics.wait'],
    ...['WebAssembly.compile', 'new SharedArrayBuffer(1)', 'console.log(1)', 'globalThis.x', 'global.x', 'this.x'],
    ...['structuredClone({})', 'performance.now()', '$evaluate(() => 1)', 'VMError.name', 'new Proxy({}, {})'],
  ])('have no module, network, timer or promise: %s', async (code) =>
    expect(await failure(`{{ ${code} }}`)).toMatch(/^ExpressionError props\.p: /),
  );

  it.each([
    '(() => { for (;;); })()',
    '/^(a+)+$/.test("a".repeat(60) + "b")',
    '({ get a() { for (;;); } })',
    '({ toJSON() { for (;;); } })',
    '(() => { throw { toString() { for (;;); } } })()',
    '(() => { try { for (;;); } finally { for (;;); } })()',
    '(() => { for (;;) try { throw 1 } catch {} })()',
    '[...(function* () { for (;;) yield* []; })()]',
  ])('that do not end fail the step with the place: %s', async (code) => {
    expect(await failure(`{{ ${code} }}`)).toBe(
      'ExpressionError props.p: the expressions of the step took longer than 1000 ms together',
    );
    expect(await value('{{ event.n }}')).toBe(2);
  });

  it('have their time together', async () => {
    const busy = '{{ (() => { for (const end = Date.now() + 300; Date.now() < end;); return 1 })() }}';
    const values = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`p${n}`, busy]));
    const outcome = await expressions.evaluate(JSON.stringify(values), SCOPE, []);
    expect(outcome).toMatchObject({ ok: false, error: { message: expect.stringMatching(/^props\.p3: .*1000 ms/) } });
    const later = await expressions.evaluateOne('true', SCOPE, 'if', 1_000 - Math.min(outcome.usedMs, 1_000));
    expect(later).toMatchObject({ ok: false, error: { message: expect.stringMatching(/^if: .*1000 ms/) } });
  });

  it.each([
    [
      'a process that needs too much memory',
      `{{ (() => { const a = []; for (;;) a.push("x".repeat(1e6) + a.length) })() }}`,
    ],
    ['what nothing can interrupt', `{{ (() => { const a = Array(2 ** 25).fill(0); for (;;) a.toString() })() }}`],
  ])('end alone in %s', async (_name, text) => {
    expect(await failure(text)).toMatch(/^ExpressionError props(\.p)?: /);
    expect(await value('{{ event.n }}')).toBe(2);
  });

  it('get copies, in each expression and each call', async () => {
    const values = {
      a: '{{ event.list.push(9) && (steps.a.rows[0].id = 5) }}',
      b: '{{ [event.list.length, steps.a.rows] }}',
    };
    expect(await props(values)).toEqual({ a: 5, b: [3, [{ id: 1 }]] });
    expect(await value('{{ (process.env.TOKEN = 1) && delete steps.a }}')).toBe(true);
    expect(await value('{{ [process.env.TOKEN, typeof steps.a] }}')).toEqual(['s3cret', 'object']);
    expect(await value('{{ typeof steps.a }}', { steps: {}, env: '{}' })).toBe('undefined');
  });

  it('may stand alone, with braces or without', async () => {
    const one = async (text: string): Promise<unknown> => {
      const outcome = await expressions.evaluateOne(text, SCOPE, 'if');
      return outcome.ok ? outcome.json : `${outcome.error.name} ${outcome.error.message}`;
    };
    expect(await one('event.n > 1')).toBe('true');
    expect(await one('{{ event.list }}')).toBe('[3,1,2]');
    expect(await one('undefined')).toBeUndefined();
    expect(await one('nope')).toBe('ExpressionError if: ReferenceError: nope is not defined');
    expect(await one('{{ 1 }} {{ 2 }}')).toMatch(/^ExpressionError if: /);
  });

  it('are parsed without being evaluated', async () => {
    const faults = await expressions.parse([
      ['template', 'a {{ nope() }} {{ (() => { for (;;); })() }}'],
      ['template', 'a {{ steps. }}'],
      ['template', 'ab {{ yield }}'],
      ['template', '{{ async () => 1 }}'],
      ['expression', 'event.n > 1'],
      ['expression', 'event.n >'],
    ]);
    expect(faults).toEqual([
      [1, 'Unexpected token', 12],
      [2, expect.any(String), 5],
      [3, expect.stringContaining('Async not available'), expect.any(Number)],
      [5, 'Unexpected token', 9],
    ]);
    expect(await expressions.parse(Array.from({ length: 60 }, () => ['template', '{{'] as const))).toHaveLength(50);
  });

  it.each(['jail (bwrap)', 'jail (unshare)', 'process'] as const)(
    'work at the level %s, where it runs',
    async (name) => {
      const level = await tryLevel(name);
      if (typeof level === 'string') return;
      const other = new Expressions(level);
      expect(await other.evaluateOne('event.n + 1', SCOPE, 'if')).toMatchObject({ ok: true, json: '3' });
      await other.close();
      await other.close();
      await expect(other.evaluateOne('1', SCOPE, 'if')).rejects.toThrow('the expressions are closed');
    },
  );

  it('wait for each other', async () => {
    const results = await Promise.all(
      [1, 2, 3].map((n) => value('{{ event }}', { steps: { trigger: `{"event":${n}}` }, env: '{}' })),
    );
    expect(results).toEqual([1, 2, 3]);
  });
});
