import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { detectIsolation } from '../jail/detect.js';
import { type BoundProp } from '../sandbox.js';
import { bundleAt, ComponentSandboxes } from '../testing/component-sandboxes.js';
import { processCaller } from './process-caller.js';
import { SandboxPool } from './sandbox-pool.js';

const FACTS = { runId: 'act_1', workspaceId: 'o_1', ts: '2026-01-01T00:00:00.000Z', timeoutMs: 5_000 };

/** Runs an action that counts its calls in its module, and returns the value of `run`. */
interface Action {
  (props?: Readonly<Record<string, BoundProp>>): Promise<unknown>;
  outcome(props?: Readonly<Record<string, BoundProp>>, timeoutMs?: number): Promise<CallOutcome>;
}

describe.each(['auto', 'process'] as const)('a warm process of an action, at the level %s', (level) => {
  let sandboxes: ComponentSandboxes;
  let pool: SandboxPool;
  let keys = 0;

  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(await detectIsolation(level));
    pool = new SandboxPool(sandboxes.factory);
  });
  afterAll(async () => {
    await pool.close();
    await sandboxes.close();
  });

  const save = async (body: string, rest = ''): Promise<Action> => {
    const caller = processCaller({ pool });
    const bundleFile = await sandboxes.bundle(
      `let count = 0; ${rest}
       export default { type: 'action', props: { a: 'string', b: 'string' }, async run({ $ }) { count++; ${body} } }`,
    );
    const key = `action ${++keys}`;
    const outcome: Action['outcome'] = (props = {}, timeoutMs = 5_000) =>
      caller.call({
        workspaceId: 'o_1',
        key,
        bundle: bundleAt(bundleFile),
        props,
        call: { kind: 'action', facts: FACTS },
        timeoutMs,
      });
    const act = async (props?: Readonly<Record<string, BoundProp>>): Promise<unknown> => {
      const { value, error } = await outcome(props);
      if (value === undefined) throw new Error(`${error?.code}: ${error?.message}`);
      return (JSON.parse(value) as { ret?: unknown }).ret;
    };
    return Object.assign(act, { outcome });
  };
  const value = (text: unknown): BoundProp => ({ kind: 'value', value: text });

  it('serves calls one after the other, with the props of each, and keeps what its module holds', async () => {
    const act = await save(`return [count, process.pid, { ...this }, Object.keys($)];`);
    const [count, pid, self, names] = (await act({ a: value('one') })) as [number, number, object, unknown];
    expect([count, self]).toEqual([1, { a: 'one' }]);
    expect(await act({ b: value('two') })).toEqual([2, pid, { b: 'two' }, names]);
  });

  it('shows a call no object of the one before', async () => {
    const act = await save(
      `
      const before = seen;
      seen = { self: this, $, list: this.a.list, stdout: process.stdout };
      this.secret = this.a.secret; $.secret = this.a.secret; $.export.secret = this.a.secret; this.a.list.push('more');
      console.count('calls'); console.log('line ' + count);
      if (!before) { $.export('first', 1); return; }
      before.$.export('of the first', 1);
      return [this === before.self, $ === before.$, $.export === before.$.export, $.context === before.$.context,
        process.stdout === before.stdout, this.a.list, Object.keys($).includes('secret')];`,
      `let seen;`,
    );
    const props = { a: value({ secret: 's', list: ['one'] }) };
    await act(props);
    const { value: text, logs } = await act.outcome(props);
    expect(JSON.parse(text ?? '')).toEqual({
      exports: {},
      ret: [false, false, false, false, false, ['one', 'more'], true],
    });
    expect(logs.map(({ msg }) => msg)).toEqual(['calls: 1', 'line 2']);
  });

  /** Effects of a first call that the second one would see. */
  const LEFT: Readonly<Record<string, string>> = {
    'Object.prototype': `Object.prototype.toJSON = () => 'patched'; Object.defineProperty(Object.prototype, 'toJSON', { enumerable: false });`,
    'Array.prototype': `Array.prototype.map = () => ['patched'];`,
    'an accessor of a prototype': `Object.defineProperty(Map.prototype, 'size', { get: () => 7 });`,
    JSON: `JSON.stringify = () => '"patched"';`,
    'a global': `const { parse } = JSON; globalThis.JSON = { parse, stringify: JSON.stringify };`,
    console: `console.log = () => {};`,
    'Promise.prototype': `const { then } = Promise.prototype; Promise.prototype.then = function (...args) { return then.apply(this, args); };`,
    'a parent of a prototype': `Object.setPrototypeOf(Array.prototype, { patched: true });`,
    'node:fs': `const fs = require('node:fs'); const { writeSync } = fs; fs.writeSync = (...args) => writeSync(...args);`,
    'process.exit': `process.exit = () => undefined;`,
    'a listener of the process': `process.on('uncaughtException', () => undefined);`,
    'the listeners of the platform': `process.removeAllListeners('uncaughtException');`,
    'the environment': `process.env.TOKEN = 'secret';`,
    'the working folder': `require('node:fs').mkdirSync('x'); process.chdir('x');`,
    'a file': `require('node:fs').writeFileSync('secret.txt', 'x');`,
    'a timer': `setInterval(() => undefined, 1000);`,
    'a server': `require('node:net').createServer().on('error', () => undefined).listen('./a.sock');`,
    'a promise that goes on': `void (async () => { await new Promise((resolve) => setTimeout(resolve, 50)); console.log('late'); })();`,
    'an uncaught error': `process.nextTick(() => { throw new Error('stray'); });`,
    'a limit that was exceeded': `$.export('big', 'x'.repeat(7_000_000));`,
  };

  /** What is left in files is another matter without a jail. What is left in objects is the same. */
  const inFiles = ['the working folder', 'a file', 'a server'];
  const left = Object.entries(LEFT).filter(([what]) => level !== 'process' || inFiles.includes(what));

  it.each(left)('is not used again after a call that left %s', async (_what, body) => {
    const act = await save(`if (this.a) { ${body} } return count;`);
    // Its own reply may suffer. The next call sees no effect.
    await act.outcome({ a: value('x') });
    expect([await act(), await act()]).toEqual([1, 2]);
  });

  it.each([
    ['never settles', `if (count === 1 && this.a) await new Promise(() => undefined);`, 'Timeout'],
    ['loops', `if (this.a) for (;;);`, 'Timeout'],
    ['exits', `if (this.a) process.exit(0);`, 'ProcessExited'],
    [
      'fills the memory',
      `if (this.a) { const all = []; for (;;) all.push(new Array(1_000_000).fill(count)); }`,
      'OutOfMemory',
    ],
  ])('is replaced after a call that %s', async (_what, body, code) => {
    const act = await save(`${body} return count;`);
    const timeoutMs = code === 'Timeout' ? 1_500 : 5_000;
    expect(await act.outcome({ a: value('x') }, timeoutMs)).toMatchObject({ status: 'killed', error: { code } });
    expect([await act(), await act()]).toEqual([1, 2]);
  });

  it('is used again after a call that threw', async () => {
    const act = await save(`if (this.a) throw new Error('no'); return count;`);
    expect(await act.outcome({ a: value('x') })).toMatchObject({ status: 'threw', error: { message: 'no' } });
    expect(await act()).toBe(2);
  });

  it.each([
    [
      'a file',
      `const fs = require('node:fs'); fs.writeFileSync('x', 'x'); await fs.promises.readFile('x'); fs.rmSync('x');`,
    ],
    ['a timer', `await new Promise((resolve) => setTimeout(resolve, 5)); AbortSignal.timeout(60_000);`],
    ['a request that failed', `await fetch('http://127.0.0.1:1').catch(() => undefined);`],
    [
      'objects that Node makes on their first use',
      `new Response('x'); new Blob(['x']); crypto.randomUUID(); structuredClone({});`,
    ],
    [
      'hashes and compression',
      `await require('node:util').promisify(require('node:zlib').gzip)('x'); require('node:crypto').createHash('md5');`,
    ],
    [
      'other modules of Node',
      `require('node:https'); require('node:http2'); require('node:worker_threads'); require('node:readline');`,
    ],
  ])('is used again after a call that used %s', async (_what, body) => {
    const act = await save(`${body} return count;`);
    expect([await act(), await act(), await act()]).toEqual([1, 2, 3]);
  });

  it('ends when work shows only after the call', async () => {
    // An unreferenced timer does not keep the process alive, so it shows only when it runs.
    const act = await save(`setTimeout(() => console.log('late'), 30).unref(); return count;`);
    expect(await act()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await act()).toBe(1);
  });
});
