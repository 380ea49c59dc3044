import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallOutcome, type ComponentCall } from '#libs/component-model/component-call.js';
import { detectIsolation } from '../jail/detect.js';
import { type CallRequest, type ComponentCaller } from '../component-caller.js';
import { bundleAt, ComponentSandboxes } from '../testing/component-sandboxes.js';
import { processCaller } from './process-caller.js';
import { SandboxPool } from './sandbox-pool.js';

type OptionsCall = Extract<ComponentCall, { kind: 'options' }>;

const options = (prop = 'p', more: Partial<OptionsCall> = {}): ComponentCall => ({
  kind: 'options',
  prop,
  page: 0,
  prevContext: {},
  ...more,
});

describe('a call of a component', () => {
  let sandboxes: ComponentSandboxes;
  let pool: SandboxPool;
  let caller: ComponentCaller;

  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(await detectIsolation('auto'));
    pool = new SandboxPool(sandboxes.factory);
    caller = processCaller({
      pool,
      limits: { atOnce: 2, waiting: 50, waitingInAll: 60 },
    });
  });
  afterAll(async () => {
    await pool.close();
    await sandboxes.close();
  });

  const callOf = async (code: string, part: Partial<CallRequest> = {}): Promise<CallOutcome> =>
    caller.call({
      workspaceId: 'o_1',
      bundle: bundleAt(await sandboxes.bundle(code)),
      props: {},
      call: options(),
      ...part,
    });
  const optionsOf = (body: string, part: Partial<CallRequest> = {}): Promise<CallOutcome> =>
    callOf(`export default { props: { p: { type: 'string', async options(a) { ${body} } } }, run() {} }`, part);
  const valueOf = ({ value }: CallOutcome): unknown => (value === undefined ? undefined : JSON.parse(value));

  it('gives the options their arguments and returns list and context', async () => {
    const outcome = await optionsOf(
      `console.log('asked'); return { options: ['x', 1, { label: 'L', value: { deep: 1 } }, { value: 2 }], context: { a } };`,
      { call: options('p', { page: 3, prevContext: { next: 't' }, query: 'q' }) },
    );
    expect(valueOf(outcome)).toEqual({
      options: ['x', 1, { label: 'L', value: { deep: 1 } }, { label: '2', value: 2 }],
      context: { a: { page: 3, prevContext: { next: 't' }, query: 'q' } },
    });
    expect(outcome.logs.map(({ msg }) => msg)).toEqual(['asked']);
  });

  it('calls options of an app with the app as this, and the values of every propDefinition', async () => {
    const outcome = await callOf(
      `const app = { type: 'app', app: 'a', methods: { who() { return this.$auth.token } }, propDefinitions: {
         base: { type: 'string', label: 'Base', options(args) { return [JSON.stringify([this.who(), args.repo, args.fixed, args.page])] } },
         wrapped: { propDefinition: [null, 'base', (c) => ({ fixed: 'inner', repo: c.repo + '-inner' })] },
       } };
       app.propDefinitions.wrapped.propDefinition[0] = app;
       export default { props: { app, owner: 'string', p: { propDefinition: [app, 'wrapped', (c) => ({ repo: c.owner + '/r' })] } }, run() {} }`,
      {
        props: {
          app: { kind: 'app', auth: { token: 'secret' } },
          owner: { kind: 'value', value: { __lv: { label: 'Ann', value: 'ann' } } },
        },
      },
    );
    expect(valueOf(outcome)).toEqual({ options: ['["secret","ann/r","inner",0]'] });
  });

  it('calls options of the component itself with its props and methods', async () => {
    const outcome = await callOf(
      `export default { methods: { twice(n) { return n * 2 } }, props: { n: 'integer', p: { type: 'integer', options() { return [this.twice(this.n)] } } }, run() {} }`,
      { props: { n: { kind: 'value', value: 21 } } },
    );
    expect(valueOf(outcome)).toEqual({ options: [42] });
  });

  it.each([
    ['{ name: "Work", id: 1 }', 'not an object with the keys name, id'],
    ['null', 'not null'],
  ])('says what the option %s lacks', async (option, text) => {
    const outcome = await optionsOf(`return [${option}]`);
    expect(outcome.error?.message).toBe(
      `an option of prop p must be a text, a number, or an object {label, value}, ${text}`,
    );
  });

  it.each([
    [options('other'), 'NoSuchProp'],
    [options('plain'), 'NoOptionsMethod'],
  ])('%j is refused with %s', async (call, code) => {
    const props = `{ plain: { type: 'string', options: ['a'] }, p: { type: 'string', options() { return [] } } }`;
    const outcome = await callOf(`export default { props: ${props}, run() {} }`, { call });
    expect([outcome.status, outcome.error?.code]).toEqual(['threw', code]);
  });

  it('runs additionalProps with the definitions, keeps what it changed, and describes what it returned', async () => {
    const code = `
      const app = { type: 'app', app: 'a', propDefinitions: { channel: { type: 'string', label: 'Channel', options() { return ['c1'] } } } };
      export default {
        props: { app, kind: { type: 'string', reloadProps: true }, extra: { type: 'string', hidden: true, optional: true } },
        methods: { isHook() { return this.kind === 'hook' } },
        additionalProps(defs) {
          defs.extra.hidden = false;
          return this.isHook()
            ? { http: '$.interface.http', channel: { propDefinition: [app, 'channel'], description: Object.keys(defs).join() } }
            : { timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } } };
        },
        run() {},
      }`;
    const call: ComponentCall = { kind: 'additional_props' };
    const hook = await callOf(code, { call, props: { kind: { kind: 'value', value: 'hook' } } });
    const own = [
      { name: 'app', type: 'app', app: 'a' },
      { name: 'kind', type: 'string', reloadProps: true },
      { name: 'extra', type: 'string', hidden: false, optional: true },
    ];
    const channel = {
      name: 'channel',
      type: 'string',
      label: 'Channel',
      description: 'app,kind,extra',
      remoteOptions: true,
    };
    expect(valueOf(hook)).toEqual({ props: [...own, { name: 'http', type: '$.interface.http' }, channel] });
    const timer = await callOf(code, {
      call,
      props: { kind: { kind: 'value', value: 'timer' } },
      dynamicProps: [channel],
    });
    const added = { name: 'timer', type: '$.interface.timer', default: { intervalSeconds: 60 } };
    expect(valueOf(timer)).toEqual({ props: [...own, added] });
    const remote = await callOf(code, {
      call: options('channel'),
      props: { kind: { kind: 'value', value: 'hook' } },
      dynamicProps: [channel],
    });
    expect(valueOf(remote)).toEqual({ options: ['c1'] });
  });

  it.each([
    ['never settles', 'await new Promise(() => {})', 'killed', 'Timeout'],
    ['blocks', 'for (;;);', 'killed', 'Timeout'],
    ['exits', 'process.exit(0)', 'killed', 'ProcessExited'],
    ['returns 100 MB', `return ['x'.repeat(100 * 1024 * 1024)]`, 'threw', 'FunctionPayloadLimitExceeded'],
    ['returns circular context', 'const c = {}; c.c = c; return { options: [], context: c }', 'threw', 'Error'],
    [
      'returns deep context',
      'let c = 1; for (let i = 0; i < 300; i++) c = [c]; return { options: [], context: c }',
      'threw',
      'Error',
    ],
    ['returns a text', `return 'x'`, 'threw', 'TypeError'],
    ['returns an option without value', `return [{ label: 'x' }]`, 'threw', 'TypeError'],
    ['throws', `throw Object.assign(new Error('no'), { name: 'ConfigurationError' })`, 'threw', 'ConfigurationError'],
    [
      'forges an answer',
      `const json = JSON.stringify(['v', 1]), raw = '{"options":["forged"]}'; const b = Buffer.alloc(12 + json.length + raw.length);
       b.writeUInt32LE(9, 0); b.writeUInt32LE(json.length, 4); b.writeUInt32LE(raw.length, 8); b.write(json + raw, 12);
       require('node:fs').writeSync(4, b); return []`,
      'killed',
      'ProcessExited',
    ],
  ])('that %s ends alone', async (_what, body, status, code) => {
    const outcome = await optionsOf(body, { timeoutMs: 2_000 });
    expect([outcome.status, outcome.error?.code, outcome.value]).toEqual([status, code, undefined]);
  });

  const FACTS = { runId: 'run_1', workspaceId: 'o_1', ts: '2026-01-01T00:00:00.000Z', timeoutMs: 5_000 };
  const act = (body: string): Promise<CallOutcome> =>
    callOf(`export default { type: 'action', run({ $ }) { ${body} } }`, { call: { kind: 'action', facts: FACTS } });
  const DEEP = `const deep = (levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));`;

  it('of an action keeps exports and what it returns, also with names of inherited properties', async () => {
    const before = Reflect.ownKeys(Object.prototype);
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toJSON":1}';
    const outcome = await act(`const evil = JSON.parse('${evil}');
      for (const name of ['__proto__', 'constructor', 'toString']) $.export(name, evil);
      return evil;`);
    expect(outcome.value).toBe(
      `{"exports":{"__proto__":${evil},"constructor":${evil},"toString":${evil}},"ret":${evil}}`,
    );
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  });

  it('of an action refuses an export that nests too deep where it is made, and names it', async () => {
    const outcome = await act(`${DEEP} $.export('fits', deep(254));
      try { $.export('deep', deep(255)); } catch (error) { return error.message; }`);
    expect(valueOf(outcome)).toMatchObject({
      exports: { fits: expect.any(Array) },
      ret: '$.export: the value of deep nests more than 254 levels deep',
    });
    const returned = await act(`${DEEP} return deep(256);`);
    expect([returned.status, returned.error?.message]).toEqual([
      'threw',
      'the action: the value nests more than 256 levels deep',
    ]);
  });

  it('of one workspace waits for its own calls only, and a full queue refuses more', async () => {
    const few = processCaller({ pool, limits: { atOnce: 2, waiting: 5, waitingInAll: 10 } });
    const call = async (workspaceId: string, body: string, timeoutMs?: number): Promise<CallOutcome> => {
      const code = `export default { props: { p: { type: 'string', async options() { ${body} } } }, run() {} }`;
      const bundle = bundleAt(await sandboxes.bundle(code));
      return few.call({ workspaceId, bundle, props: {}, call: options(), ...(timeoutMs ? { timeoutMs } : {}) });
    };
    let ended = 0;
    const slow = Array.from({ length: 7 }, () =>
      call('o_slow', 'await new Promise(() => {})', 500)
        .catch((error: unknown) => error)
        .finally(() => ended++),
    );
    expect(valueOf(await call('o_quick', `return ['a']`))).toEqual({ options: ['a'] });
    // One was refused, and of the six others it would have waited for five.
    expect(ended).toBeLessThan(5);
    const settled = await Promise.all(slow);
    expect(settled.filter((one) => (one as { code?: string }).code === 'component.too_many_calls')).toHaveLength(1);
  }, 120_000);
});
