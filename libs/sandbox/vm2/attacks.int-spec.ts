import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { detectIsolation } from '../jail/detect.js';
import { type RunOutcome, type Sandbox } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

/**
 * `probe(x)` follows constructors and prototypes from any value that an attack obtained. It returns whether one of them
 * compiles code that sees the host's `process`, which has `kill` and `binding`. The realm's own `process` has neither.
 */
const PROBE = `
  const hostOf = (F) => { try { const p = F('return process')(); return Boolean(p && (p.kill || p.binding || p.mainModule || p.pid)); } catch { return false; } };
  const requires = (F) => { try { return typeof F('return require')() === 'function' && F('return require')()('fs') !== undefined; } catch { return false; } };
  const read = (x, key) => { try { return x[key]; } catch { return undefined; } };
  const isThing = (x) => (typeof x === 'object' && x !== null) || typeof x === 'function';
  const probe = (x, depth = 4) => {
    if (!isThing(x)) return false;
    if (typeof x === 'function' && (hostOf(x) || requires(x))) return true;
    if (typeof read(x, 'kill') === 'function' && read(x, 'pid')) return true;
    if (depth === 0) return false;
    let proto; try { proto = Object.getPrototypeOf(x); } catch {}
    return [read(x, 'constructor'), proto, read(x, '__proto__')].some((next) => next !== x && probe(next, depth - 1));
  };
  const seen = []; const see = (...xs) => { for (const x of xs) seen.push(x); };
  const spy = (target = {}) => new Proxy(target, Object.fromEntries(
    ['get', 'set', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'defineProperty', 'apply', 'construct', 'deleteProperty', 'isExtensible', 'preventExtensions', 'setPrototypeOf']
      .map((trap) => [trap, (...args) => { see(...args); if (trap === 'get' && args[1] === 'message') throw spy(); return Reflect[trap](...args); }])));
  const inspectable = () => ({ [Symbol.for('nodejs.util.inspect.custom')](...args) { see(...args); return 'seen'; } });
`;

/** Attacks, which may throw. Values passed to \`see\`, thrown or returned are probed. */
const ATTACKS: Readonly<Record<string, string>> = {
  'constructors of what run is given': `see(self, event, self.$emit, self.db, self.db.get, self.http, self.http.respond)`,
  'constructors of the globals': `for (const key of Reflect.ownKeys(globalThis)) { const value = read(globalThis, key); see(value); if (isThing(value)) for (const name of Reflect.ownKeys(value)) see(read(value, name)); }`,
  'bridge left behind': `see(globalThis.$bridge, globalThis.$load, globalThis.realm, globalThis.WebAssembly, globalThis.VMError)`,
  'what the functions return': `see(setTimeout(() => 1, 1), fetch('http://x.invalid/').catch(see), self.$emit(1), require('crypto').createHash('md5'), Buffer.from('a').buffer, new URL('http://a/').searchParams)`,
  'code compiled in every way': `see(eval('(function(){return this})()'), new Function('return this')(), (async () => {}).constructor, (function*(){}).constructor, (async function*(){}).constructor, (0, eval)('this'))`,
  'Error.prepareStackTrace': `Error.prepareStackTrace = (error, frames) => { see(error, frames, ...frames); for (const frame of frames) for (const name of ['getThis', 'getFunction', 'getEvalOrigin', 'getTypeName']) try { see(frame[name]()); } catch (e) { see(e); } return 'x'; };
    see(new Error('a').stack); try { null.x } catch (e) { see(e, e.stack) } try { self.$emit(() => 1) } catch (e) { see(e, e.stack) } setTimeout(() => see(new Error('t').stack), 1); const o = {}; Error.captureStackTrace(o); see(o.stack); await null; Error.prepareStackTrace = undefined`,
  'running out of stack on the bridge': `for (const f of [() => console.log('x'), () => setTimeout(() => 1, 1), () => require('crypto').createHash('md5'), () => new URL('http://a/'), () => performance.now()]) { let left = 30; const down = () => { try { return down(); } catch (e) { if (left-- > 0) { see(e); f(); } throw e; } }; try { down(); } catch (e) { see(e); } }`,
  'promises with species and thenables': `class P extends Promise { static get [Symbol.species]() { return function (executor) { see(executor); executor((...a) => see(...a), (...a) => see(...a)); }; } then(...args) { see(...args); return super.then(...args); } }
    const p = P.resolve(1); see(p.then(see, see)); Object.defineProperty(p, 'constructor', { value: { [Symbol.species]: function (e) { see(e); e(see, see); } } }); see(p.then(see, see), p.finally(see));
    await { then(resolve, reject) { see(resolve, reject); resolve(1); } }; const f = fetch('http://x.invalid/'); f.constructor = { [Symbol.species]: function (e) { see(e); e(see, see); } }; see(f.then(see, see)); await f.catch(see);
    await import('node:fs').then(see, see); const e = new Error(); e.name = Symbol(); await (async () => e.stack)().catch(see)`,
  'proxies as payload, log line, key, reply and metadata': `for (const f of [() => self.$emit(spy()), () => self.$emit(1, spy()), () => self.$emit(1, { id: spy(), summary: spy(), ts: spy() }), () => console.log(spy(), spy(() => 1)), () => self.db.set(spy(), spy()), () => self.db.get(spy()), () => self.http.respond(spy()), () => setTimeout(spy(() => 1), spy()), () => fetch(spy(), spy()).catch(see), () => require(spy()), () => new URL(spy(), spy())]) try { see(f()); } catch (e) { see(e); }`,
  'inspect by symbol': `const i = inspectable(); console.log(i, [i], '%o %s', i, i); console.dir(i); see(require('util').inspect(i)); try { self.$emit(1, { summary: i }); } catch (e) { see(e); } void (async () => { throw i })(); setTimeout(() => { throw i; }, 1)`,
  'toString, valueOf and toPrimitive as arguments': `const t = { toString() { see(this, ...arguments); return spy(); }, valueOf() { see(this); return spy(); }, [Symbol.toPrimitive](hint) { see(this, hint); return { toString: 1 }; } };
    for (const f of [() => setTimeout(() => 1, t), () => clearTimeout(t), () => require('crypto').createHash(t), () => require('crypto').createHmac('md5', t), () => require('crypto').randomBytes(t), () => new URL(t, t), () => fetch(t), () => self.db.get(t), () => self.$emit(1, { id: t, name: t }), () => console.log('%s %d %i %f', t, t, t, t), () => require(t), () => self.http.respond({ headers: { [Symbol.iterator]: t, a: t } })]) try { see(await f()); } catch (e) { see(e); }`,
  'patched builtins under the bridge': `const undo = []; const caught = []; const keep = (...xs) => { for (const x of xs) caught[caught.length] = x; };
    const patch = (owner, key) => { const old = owner[key]; owner[key] = function (...args) { keep(this, ...args); return Reflect.apply(old, this, args); }; undo.unshift(() => { owner[key] = old; }); };
    const { stringify } = JSON;
    try {
      for (const [o, k] of [[Map.prototype, 'get'], [Map.prototype, 'set'], [Map.prototype, 'delete'], [Array.prototype, 'join'], [Array.prototype, 'map'], [String.prototype, 'charCodeAt'], [Function.prototype, 'bind'], [Promise.prototype, 'then']]) try { patch(o, k); } catch (e) { keep(e); }
      setTimeout(() => 1, 1); console.log('a', {}); self.db.set('a', 1); new URL('http://a/?b=1').searchParams.set('c', 1); require('crypto').createHash('md5').update('a').digest('hex');
      JSON.stringify = () => ({ toString() { keep(this); return '[]'; } }); try { self.db.set('x', 1); self.http.respond({ body: {} }); } catch (e) { keep(e); }
    } catch (e) { keep(e); } finally { JSON.stringify = stringify; for (const one of undo) one(); }
    self.db.set('x'); see(...caught)`,
  'callers, arguments and disposed frames': `function sloppy() { see(sloppy.caller, arguments.callee.caller, sloppy.arguments); } try { (0, eval)('(' + sloppy + ')'); setTimeout(sloppy, 1); [1].forEach(sloppy); } catch (e) { see(e); }`,
  'descriptors and prototypes of builtins': `for (const C of [Object, Function, Array, Error, Promise, Map, Uint8Array, Buffer, URL, Symbol]) { see(C, C.prototype, ...Object.values(Object.getOwnPropertyDescriptors(C)).flatMap((d) => [d, d.value, d.get, d.set])); } see(Object.getOwnPropertyDescriptor(Buffer.prototype, 'toString'), Buffer.prototype.__lookupGetter__('__proto__'), ({}).__lookupGetter__('__proto__').call(self.$emit), Buffer.poolSize, Buffer.prototype.inspect)`,
};

const component = (attack: string): string => `
  ${PROBE}
  export default { name: 't', version: '1', props: { db: '$.service.db', http: '$.interface.http' }, async run(event) {
    if (event.control) return this.$emit(probe(hostOf) || seen.some((x) => probe(x)));
    const self = this;
    const attack = async () => { ${attack} };
    try { see(await attack()); } catch (e) { see(e); }
    await new Promise((r) => setTimeout(r, 20));
    this.$emit({ reached: seen.some((x) => probe(x)), seen: seen.length });
  } }`;

describe('attacks from within the vm2 realm', () => {
  let realm: ComponentSandboxes;
  let count = 0;

  beforeAll(async () => {
    realm = await ComponentSandboxes.open(await detectIsolation('vm2'));
  });
  afterAll(() => realm.close());

  const run = (sandbox: Sandbox, event: unknown = {}): Promise<RunOutcome> =>
    sandbox.run({ invocationId: `inv_${++count}`, event: JSON.stringify(event), timeoutMs: 10_000 });
  const props = { db: { kind: 'db' }, http: { kind: 'http', endpoint: 'http://h/1' } } as const;

  it('would be detected, because the same probe finds the host in the plain child', async () => {
    const plain = await ComponentSandboxes.open(await detectIsolation('auto'));
    const sandbox = await plain.start(component(''), { props });
    expect((await run(sandbox, { control: true })).emits[0]?.payload).toBe('true');
    await plain.close();
  });

  it.each(Object.entries(ATTACKS))('%s', async (_name, attack) => {
    const sandbox = await realm.start(component(attack), { props });
    const outcome = await run(sandbox);
    // A stray error of the attack may have ended its run first. No other run may be affected.
    const last = outcome.emits.at(-1);
    if (outcome.status === 'ok') expect(JSON.parse(last?.payload ?? '')).toMatchObject({ reached: false });
    else expect(outcome.status).toBe('threw');
    expect((await run(sandbox, { control: true })).emits[0]?.payload).toBe('false');
    await sandbox.stop();
  });

  it.each([
    ['a proxy', 'throw spy(new Error("x"))'],
    [
      'an error with getters',
      'const e = new Error(); for (const k of ["name", "message", "stack", "code"]) Object.defineProperty(e, k, { get() { see(this); throw inspectable(); } }); throw e',
    ],
    ['something inspectable', 'throw inspectable()'],
    ['a function', 'throw spy(() => 1)'],
    ['a null prototype', 'throw Object.create(null)'],
    ['an unhandled rejection', 'void (async () => { throw spy(new Error("x")) })(); await new Promise(() => {})'],
    ['an inspectable unhandled rejection', 'void (async () => { throw inspectable() })(); await new Promise(() => {})'],
    [
      'a rejection with getters',
      'const e = new Error(); Object.defineProperty(e, "message", { get() { see(this); return "x"; } }); void (async () => { throw e })(); await new Promise(() => {})',
    ],
    ['an error of a timer', 'setTimeout(() => { throw spy(new Error("x")) }, 1); await new Promise(() => {})'],
  ])('throwing %s ends only that run, and reveals nothing of the host', async (_name, attack) => {
    const code = `${PROBE} export default { name: 't', version: '1', async run(event) { if (event.ask) return this.$emit([seen.some((x) => probe(x)), hostOf(Function)]); ${attack} } }`;
    const sandbox = await realm.start(code);
    expect((await run(sandbox)).status).toBe('threw');
    expect((await run(sandbox, { ask: true })).emits[0]?.payload).toBe('[false,false]');
    await sandbox.stop();
  });

  it('code that closes its wrapper function stays in the realm', async () => {
    const file = path.join(realm.dir, 'breakout.cjs');
    await writeFile(
      file,
      `module.exports = { name: 't', run() { this.$emit([typeof globalThis.outer, globalThis.outer]); } }; });
       ${PROBE} globalThis.outer = [probe(this), probe(globalThis), hostOf(Function), typeof require, typeof module, typeof $bridge]; (function () {`,
    );
    const spec = { sourceId: 'dc_x', workspaceId: 'o_1', props: {}, db: {}, concurrency: 1, bundleFile: file };
    const sandbox = await realm.factory.start(spec);
    const outcome = await run(sandbox);
    expect(outcome.emits[0]?.payload).toBe('["object",[false,false,false,"undefined","undefined","undefined"]]');
    await sandbox.stop();
  });

  it('messages that a component forges are checked like those of any child', async () => {
    const sandbox = await realm.start(
      `export default { name: 't', version: '1', run(event) { if (event.ok) return this.$emit(1); JSON.stringify = () => '["e",999,"",null,null,null]'; Array.prototype.toJSON = () => 1; this.$emit({}); } }`,
    );
    const outcome = await run(sandbox);
    expect(outcome.status).toBe('killed');
    await sandbox.stop();
  });
});
