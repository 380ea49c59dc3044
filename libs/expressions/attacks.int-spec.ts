import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { detectIsolation } from '#libs/sandbox/index.js';
import { Expressions, type ExpressionScope, type Evaluation } from './index.js';

/**
 * `probe(x)` follows constructors and prototypes from any value that an attack obtained. It says whether one of them
 * compiles code, which no function of the realm does, or is an object of the process.
 */
const PROBE = `
  const compiles = (F) => { try { return F('return 7')() === 7; } catch { return false; } };
  const read = (x, key) => { try { return x[key]; } catch { return undefined; } };
  const isThing = (x) => (typeof x === 'object' && x !== null) || typeof x === 'function';
  const probe = (x, depth = 4) => {
    if (!isThing(x)) return false;
    if (typeof x === 'function' && compiles(x)) return true;
    if (['$evaluate', 'kill', 'binding', 'mainModule', 'createRequire', 'readFileSync'].some((key) => read(x, key) !== undefined)) return true;
    if (depth === 0) return false;
    let proto; try { proto = Object.getPrototypeOf(x); } catch {}
    return [read(x, 'constructor'), proto, read(x, '__proto__')].some((next) => next !== x && probe(next, depth - 1));
  };
  const seen = []; const see = (...xs) => { for (const x of xs) seen.push(x); };
  const attempt = (...works) => { for (const work of works) try { see(work()); } catch (e) { see(e); } };
  const inspectable = () => ({ [Symbol.for('nodejs.util.inspect.custom')](...args) { see(...args); return 'seen'; } });
  const builtins = [Object, Function, Array, Number, BigInt, Boolean, String, Symbol, Date, RegExp, Math, JSON, Intl, Map, Set,
    WeakMap, WeakSet, Reflect, ArrayBuffer, DataView, Uint8Array, Float64Array, Error, AggregateError, RangeError, TypeError];
`;

/** Attacks on the realm. What they pass to `see`, throw or return is probed. */
const ATTACKS: Record<string, string> = {
  'constructors of what they are given': `see(steps, steps.a, event, process, process.env, item, index, see)`,
  'constructors of the builtins': `for (const C of builtins) for (const key of Reflect.ownKeys(C)) see(C, read(C, key))`,
  'descriptors of the builtins': `for (const C of builtins) see(C, ...[C, C.prototype ?? {}].flatMap((o) => Object.values(Object.getOwnPropertyDescriptors(o))).flatMap((d) => [d, d.value, d.get, d.set]));
    attempt(() => ({}).__lookupGetter__('__proto__').call(see), () => ({}).__lookupSetter__('__proto__'))`,
  'code compiled in every way': `attempt(() => Function('return process')(), () => new Function('return process')(), () => eval('process'), () => (0, eval)('this'),
    () => (function* () {}).constructor('return process')().next(), () => Reflect.construct(Function, ['return process'])(), () => see.constructor.constructor('return this')(),
    () => Reflect.apply(Function.prototype.constructor, null, ['return process'])(), () => Object.getPrototypeOf(function* () {}).constructor('yield process')().next())`,
  'names that vm2 keeps': `attempt(() => $evaluate, () => Promise, () => VMError, () => Buffer, () => global, () => globalThis, () => WebAssembly, () => console, () => host, () => bridge)`,
  'this of functions': `attempt(() => this, () => (function () { return this; })(), () => [1].map(function () { return this; })[0], () => (0, { f() { return this; } }.f)(),
    () => (function* () { yield this; })().next().value, () => Reflect.apply(function () { return this; }, undefined, []), () => 'a'.replace('a', function () { see(this); }), () => new (class { x = this; })().x)`,
  'this of the builtins': `for (const o of builtins.flatMap((C) => [C, C.prototype ?? {}])) for (const d of Object.values(Object.getOwnPropertyDescriptors(o))) for (const f of [d.value, d.get, d.set])
    if (typeof f === 'function') attempt(() => Reflect.apply(f, undefined, []), () => Reflect.apply(f, undefined, ['polluted', 1]), () => f.call(null, steps))`,
  'callers and arguments': `function named() { see(named.caller, named.arguments); } attempt(named, () => [1].forEach(named), () => arguments, () => (function () { return arguments.callee; })(), () => (function () { return arguments; })())`,
  'stacks and call sites': `attempt(() => { Error.prepareStackTrace = (e, frames) => { see(e, frames, ...frames); return 'x'; }; }, () => { Error.stackTraceLimit = 100; },
    () => Object.defineProperty(Error, 'prepareStackTrace', { value: see }), () => new Error('a').stack, () => { const o = {}; Error.captureStackTrace(o); return o.stack; },
    () => { const e = new Error(); e.name = Symbol(); return e.stack; }, () => { const e = new Error(); e.message = { toString: () => { throw see; } }; return e.stack; },
    () => { class E extends Error { static prepareStackTrace(...a) { see(...a); } } return new E().stack; })`,
  'species of arrays and buffers': `const grab = function (...args) { see(this, new.target, ...args); return []; };
    const a = [1, 2, 3]; a.constructor = { [Symbol.species]: grab }; attempt(() => a.map((x) => x), () => a.filter(Boolean), () => a.slice(), () => a.splice(0, 1), () => a.concat([1]), () => a.flat());
    class A extends Array { static get [Symbol.species]() { return grab; } } attempt(() => A.from([1]).map((x) => x)); class U extends Uint8Array { static get [Symbol.species]() { return grab; } } attempt(() => new U(2).subarray(1), () => new U(2).map((x) => x));
    class B extends ArrayBuffer { static get [Symbol.species]() { return grab; } } attempt(() => new B(2).slice(1)); class R extends RegExp { static get [Symbol.species]() { return grab; } exec(...x) { see(...x); return null; } } attempt(() => 'aa'.split(new R('a')), () => [...'aa'.matchAll(new R('a', 'g'))])`,
  thenables: `const then = function (...args) { see(this, ...args); }; see({ then }); return { then, toJSON(...args) { see(this, ...args); return { then: 1 }; } }`,
  'conversions with arguments': `const t = { toString(...a) { see(this, ...a); return {}; }, valueOf(...a) { see(this, ...a); return {}; }, [Symbol.toPrimitive](...a) { see(this, ...a); return this; }, toJSON(...a) { see(this, ...a); return this; }, get [Symbol.toStringTag]() { see(this); return inspectable(); } };
    attempt(() => \`\${t}\`, () => t + 1, () => JSON.stringify(t), () => [t].join(), () => new Date(t), () => Number(t), () => ({})[t], () => Object.prototype.toString.call(t), () => 'a'.localeCompare('b', t), () => new Intl.NumberFormat(t))`,
  'callbacks of the builtins': `const cb = function (...a) { see(this, ...a); return 0; }; attempt(() => [3, 1].sort(cb), () => [1].reduce(cb, {}), () => JSON.parse('{"a":[1]}', cb), () => JSON.stringify({ a: 1 }, cb), () => 'abc'.replace(/b/, cb),
    () => Array.from({ length: 2 }, cb), () => new Map([[1, 2]]).forEach(cb), () => Reflect.apply(cb, steps, [1]), () => [...{ [Symbol.iterator]: cb }], () => Object.groupBy?.([1], cb), () => [1].find(cb, process))`,
  'inspection by symbol': `const i = inspectable(); see(i, \`\${Object.prototype.toString.call(i)}\`); attempt(() => { throw i; }, () => { throw new Error('x', { cause: i }); }, () => { throw new AggregateError([i], i); }); for (const s of ['nodejs.util.inspect.custom', 'nodejs.util.promisify.custom', 'nodejs.rejection', 'vm:shared']) see(Symbol.for(s))`,
  'disposal and generators': `const g = (function* () { try { yield 1; } finally { see(this); yield see; } })(); attempt(() => g.next(), () => g.return(process), () => g.throw(see), () => g.next()); attempt(() => [...(function* () { yield* { [Symbol.iterator]: () => ({ next(...a) { see(this, ...a); return { done: true, value: this }; }, return(...a) { see(...a); return {}; } }) }; })()])`,
  'caught in patterns': `try { null.x; } catch ({ constructor, stack, message }) { see(constructor, stack, message); } try { undefined(); } catch ({ ...rest }) { see(rest); } try { (() => { throw see; })(); } catch (VM2_INTERNAL_TMPNAME) { see(VM2_INTERNAL_TMPNAME); } see((() => { try { return see; } finally { see(process); } })())`,
};

/** Functions that an attack calls at the end of the stack. */
const AT_THE_END_OF_THE_STACK = [
  ...['steps.a', 'event.list', 'process.env', 'JSON.stringify([[1]])', "JSON.parse('[[1]]')", "new Error('x').stack"],
  ...["/a/.exec('a')", 'new Date(0).toISOString()', "new Intl.NumberFormat('en')", 'Reflect.ownKeys(steps)', 'null.x'],
];
for (const code of AT_THE_END_OF_THE_STACK)
  ATTACKS[`${code} without stack left`] =
    `let left = 5; const down = () => { try { return down(); } catch (e) { if (left-- > 0) { see(e); attempt(() => ${code}); } throw e; } }; attempt(down)`;

/** Code that changes shared objects. Each line is tried alone, and all of its changes must be gone afterwards. */
const POLLUTIONS = [
  `Object.prototype.polluted = 1`,
  `({}).__proto__.polluted = 1`,
  `steps.__proto__.polluted = 1`,
  `event.constructor.prototype.polluted = 1`,
  `Reflect.set(Object.prototype, 'polluted', 1)`,
  `Reflect.defineProperty(Object.prototype, 'polluted', { get: () => 1 })`,
  `Reflect.setPrototypeOf(Object.prototype, { polluted: 1 })`,
  `Reflect.setPrototypeOf(Array.prototype, { polluted: 1 })`,
  `Reflect.deleteProperty(Array.prototype, 'map')`,
  `JSON.parse = () => ({ polluted: 1 })`,
  `JSON.stringify = () => '{"polluted":1}'`,
  `Array.prototype.toJSON = () => 'polluted'`,
  `Object.prototype.toJSON = () => 'polluted'`,
  `String.prototype.slice = () => 'polluted'`,
  `Reflect.defineProperty = () => false`,
  `Function.prototype.call = () => 1`,
  `Array.prototype[Symbol.iterator] = function* () { yield 'polluted'; }`,
  `Object.getPrototypeOf([].values()).next = () => ({ done: true })`,
  `Object.getPrototypeOf(function* () {}).prototype.next = () => 1`,
  `Error.prototype.message = 'polluted'`,
  `Error.prepareStackTrace = () => 'polluted'`,
  `Number.prototype.polluted = 1`,
  `Symbol.prototype.description = 1`,
  `Intl.NumberFormat.prototype.format = 1`,
  `Array = 1`,
  `undefined = 1`,
  `JSON = { parse: 1 }`,
  `polluted = 1`,
  `$evaluate = () => 'j1'`,
  `/(secret)/.exec('secret')`,
  `this.polluted = 1`,
  `Reflect.getOwnPropertyDescriptor(Object.prototype, 'toString').set.call(undefined, 1)`,
  `Reflect.getOwnPropertyDescriptor(Error.prototype, 'name').set.call(Error.prototype, 1)`,
];

/** Lists what could have changed in the realm: each property of each builtin, and globals by name. */
const FINGERPRINT = `(() => { ${PROBE}
  const told = (o) => Reflect.ownKeys(o).map((key) => { const d = Reflect.getOwnPropertyDescriptor(o, key); return [String(key), typeof d.value, read(d.value ?? d.get, 'name'), d.writable]; });
  return [builtins.flatMap((C) => [C, C.prototype ?? {}, Object.getPrototypeOf(C)].map((o) => [told(o), Object.isFrozen(o)])), typeof polluted, ({}).polluted, [].polluted, RegExp.$1, RegExp.input, JSON.stringify([1]), new Error('e').message, [...'ab']];
})()`;

const SCOPE: ExpressionScope = {
  steps: { trigger: '{"event":{"list":[1]}}', a: '{"b":1}' },
  env: '{"A":"1"}',
  item: '{}',
  index: 1,
};

/** More time than a step has, because probing is slow, as a shared machine may be. */
const TIME_MS = 20_000;

describe('attacks of expressions', () => {
  let expressions: Expressions;
  let clean: unknown;

  const evaluated = (code: string): Promise<Evaluation<string | undefined>> =>
    expressions.evaluateOne(code, SCOPE, 'if', TIME_MS);
  const fingerprint = async (): Promise<unknown> => {
    const outcome = await evaluated(FINGERPRINT);
    if (!outcome.ok) throw new Error(outcome.error.message);
    return outcome.json;
  };

  beforeAll(async () => {
    expressions = new Expressions(await detectIsolation('auto'));
    clean = await fingerprint();
  });
  afterEach(async () => {
    expect(await fingerprint()).toEqual(clean);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
  afterAll(() => expressions.close());

  it('would be detected, because the same probe finds the functions of a process without a realm', () => {
    const control = `(() => { ${PROBE} return [probe(see), probe({}), probe(process), compiles(Function)]; })()`;
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- what the realm refuses
    expect(new Function(`return ${control}`)()).toEqual([true, true, true, true]);
  });

  it('find a realm in which nothing compiles code and every builtin is frozen', async () => {
    expect(await evaluated(`(() => { ${PROBE} return [probe(see), compiles(Function)]; })()`)).toMatchObject({
      ok: true,
      json: '[false,false]',
    });
    expect(
      await evaluated(
        `(() => { ${PROBE} return builtins.every((C) => Object.isFrozen(C) && Object.isFrozen(C.prototype ?? C)); })()`,
      ),
    ).toMatchObject({ json: 'true' });
  });

  it.each(Object.entries(ATTACKS))('reach nothing of the process: %s', async (_name, attack) => {
    const outcome = await evaluated(`(() => { ${PROBE}
      const attack = () => { ${attack} };
      try { see(attack()); } catch (e) { see(e); }
      return { reached: seen.findIndex((x) => probe(x)), seen: seen.length }; })()`);
    if (!outcome.ok) throw new Error(outcome.error.message);
    const { reached, seen } = JSON.parse(outcome.json ?? '') as { reached: number; seen: number };
    expect(seen).toBeGreaterThan(0);
    expect(reached).toBe(-1);
  });

  it.each([
    ['a function', `(() => { throw see; })()`],
    ['an object without prototype', `(() => { throw Object.create(null); })()`],
    [
      'an error with getters',
      `(() => { const e = new Error(); for (const k of ['name', 'message', 'stack', 'cause', 'code']) Object.defineProperty(e, k, { get() { see(this); throw inspectable(); } }); throw e; })()`,
    ],
    ['an error whose name is a symbol', `(() => { const e = new Error(); e.name = Symbol('n'); throw e; })()`],
    ['something inspectable', `(() => { throw inspectable(); })()`],
    [
      'an error without stack left',
      `(() => { let again = 20; const f = () => { try { f(); } finally { if (again-- > 0) f(); } }; f(); })()`,
    ],
    ['an error of the parser', `(() => { JSON.parse('{'); })()`],
  ])('that throw %s fail, and say nothing of the process', async (_name, attack) => {
    const outcome = await evaluated(`(() => { ${PROBE} return ${attack}; })()`);
    expect(outcome).toMatchObject({
      ok: false,
      error: { name: 'ExpressionError', message: expect.stringMatching(/^if: /) },
    });
    expect(JSON.stringify(outcome)).not.toMatch(/node:|child\.cjs|\/tmp|vm2/);
  });

  it.each([
    ['the state of vm2', 'VM2_INTERNAL_STATE_DO_NOT_USE_OR_PROGRAM_WILL_FAIL'],
    ['the state of vm2, escaped', '\\u0056M2_INTERNAL_STATE_DO_NOT_USE_OR_PROGRAM_WILL_FAIL.import'],
    ['an import', 'import("node:fs")'],
    ['an import in a function', '[1].map(() => import("node:child_process"))'],
    ['an async function', '(async () => { await import("fs"); })()'],
    ['an async generator', '(async function* () { yield* { [Symbol.asyncIterator]: 1 }; })()'],
    ['with', '(() => { with (steps) { return a; } })()'],
    ['code after the function', '1); }; (() => process.exit())(); (() => { (1'],
    ['code behind a comment', '1 /* */ ); process.exit('],
    ['a comment that is not closed', '1 /*'],
    ['a line comment of HTML', '1 <!-- '],
    ['a directive', '"use strict"; process'],
    ['super', 'super.constructor'],
    ['new.target', 'new.target'],
  ])('by syntax are refused: %s', async (_name, code) => {
    const outcome = await evaluated(code);
    if (outcome.ok) expect(outcome.json).toBe('1');
    else expect(outcome.error.name).toBe('ExpressionError');
  });

  it.each(POLLUTIONS)('change nothing for the next expression: %s', async (code) => {
    await evaluated(`(() => { ${code}; })()`);
    const outcome = await expressions.evaluate(
      JSON.stringify({
        first: `{{ (() => { try { ${code}; } catch {} return 1; })() }}`,
        second: '{{ ({ a: [event.list, `${{}}`] }) }}',
      }),
      SCOPE,
      [{ name: 'polluted', type: 'any', optional: true }],
    );
    expect(outcome).toMatchObject({ ok: true, json: '{"first":1,"second":{"a":[[1],"[object Object]"]}}' });
  });

  it('by keys of prototypes in results stay what they are', async () => {
    const text = `{{ JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1,"then":1}') }}`;
    const outcome = await expressions.evaluate(JSON.stringify({ p: text, q: [text] }), SCOPE, []);
    const value = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1,"then":1}';
    expect(outcome).toMatchObject({ ok: true, json: `{"p":${value},"q":[${value}]}` });
  });
});
