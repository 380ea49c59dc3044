import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type StepFacts } from '#libs/component-model/step-run.js';
import { type CallRequest } from '../component-caller.js';
import { detectIsolation } from '../jail/detect.js';
import { bundleAt, ComponentSandboxes } from '../testing/component-sandboxes.js';
import { processCaller } from './process-caller.js';
import { SandboxPool } from './sandbox-pool.js';

const FACTS: StepFacts = {
  context: {},
  steps: '{"trigger":{"event":null}}',
  urls: null,
  stretchMs: 30_000,
  mostMs: 60_000,
  hasCaller: false,
  test: false,
};

/** Names the process. Its number is the same in every jail. */
const MARK = `const MARK = () => (globalThis.mark ??= Math.random());`;

describe('code steps of one workflow', () => {
  let sandboxes: ComponentSandboxes;
  let pool: SandboxPool;
  let workflows = 0;

  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(await detectIsolation('auto'));
    pool = new SandboxPool(sandboxes.factory);
  });
  afterAll(async () => {
    await pool.close();
    await sandboxes.close();
  });

  type Call = (part?: Partial<CallRequest>) => Promise<CallOutcome>;

  /** A workflow, whose steps share a process. */
  const workflow = (env: Readonly<Record<string, string>> = {}) => {
    const name = `workflow ${++workflows}`;
    const caller = processCaller({ pool });
    return async (body: string, top = ''): Promise<Call> => {
      const bundleFile = await sandboxes.bundle(
        `${MARK} ${top}\nexport default { async run({ $, steps }) {\n${body}\n} }`,
      );
      return (part = {}) =>
        caller.call({
          workspaceId: 'o_1',
          shared: { name, env },
          bundle: bundleAt(bundleFile),
          props: {},
          call: { kind: 'step', facts: FACTS },
          timeoutMs: 5_000,
          ...part,
        });
    };
  };
  const valueOf = ({ step, error }: CallOutcome): unknown => {
    const text = step?.exports['$return_value'];
    if (text === undefined) throw new Error(`${error?.code}: ${error?.message}`);
    return JSON.parse(text);
  };

  const SLEEPS = `$.respond({ status: 200, immediate: true }); await new Promise((end) => setTimeout(end, 60_000))`;
  /** Makes a call of `SLEEPS`, and returns its outcome once it has begun. */
  const begun = async (call: Call): Promise<() => Promise<CallOutcome>> => {
    let outcome: Promise<CallOutcome> | undefined;
    await new Promise<void>((resolve) => {
      const facts = { ...FACTS, hasCaller: true };
      outcome = call({ call: { kind: 'step', facts }, timeoutMs: 60_000, onReply: () => resolve() });
    });
    return async () => (await outcome) ?? { status: 'killed', logs: [] };
  };

  it('share a process and its files, each with its own module and props', async () => {
    const save = workflow();
    const one = await save(
      `require('node:fs').writeFileSync('/tmp/x', 'file'); return [MARK(), ++count, this.p]`,
      'let count = 0;',
    );
    const two = await save(
      `return [MARK(), count++, require('node:fs').readFileSync('/tmp/x', 'utf8')]`,
      'let count = 9;',
    );
    const [mark] = valueOf(await one({ props: { p: { kind: 'value', value: 'a' } } })) as [number];
    expect(valueOf(await two())).toEqual([mark, 9, 'file']);
    expect(valueOf(await one({ props: { p: { kind: 'value', value: 'b' } } }))).toEqual([mark, 2, 'b']);
  });

  it('are read from disk once by their process', async () => {
    const step = await workflow()(`return 1`);
    const file = await sandboxes.bundle(`export default { run() { return 'b' } }`);
    const asked: string[] = [];
    const bundle = {
      hash: 'b',
      file: (): Promise<string> => {
        asked.push('b');
        return Promise.resolve(file);
      },
    };
    await step();
    expect([valueOf(await step({ bundle })), valueOf(await step({ bundle }))]).toEqual(['b', 'b']);
    expect(asked).toEqual(['b']);
  });

  it('share no process with another workflow, another workspace, or an action', async () => {
    const step = await workflow()(`return MARK()`);
    const other = await workflow()(`return MARK()`);
    const marks = [await step(), await other(), await step({ workspaceId: 'o_2' })].map(valueOf);
    const bundleFile = await sandboxes.bundle(`${MARK}; export default { run() { return MARK() } }`);
    const action = await processCaller({ pool }).call({
      workspaceId: 'o_1',
      key: 'k',
      bundle: bundleAt(bundleFile),
      props: {},
      call: { kind: 'step', facts: FACTS },
    });
    expect(new Set([...marks, valueOf(action)]).size).toBe(4);
  });

  it('have the variables of the workspace, also at the top of the module, and nothing else', async () => {
    const body = `return [top, process.env.A, Object.keys(process.env)]`;
    const step = await workflow({ A: 'one' })(body, 'const top = process.env.A;');
    expect(valueOf(await step())).toEqual(['one', 'one', ['A']]);
    const name = 'workflow of changed variables';
    expect(valueOf(await step({ shared: { name, env: { A: 'two' } } }))).toEqual(['two', 'two', ['A']]);
    expect(valueOf(await step({ shared: { name, env: { A: 'three' } } }))).toEqual(['three', 'three', ['A']]);
  });

  it('run at the same time, each with its own log and exports', async () => {
    const save = workflow();
    const body = (n: number): string =>
      `console.log('begin ${n}'); await new Promise((resolve) => setTimeout(resolve, 50));
       console.log('end ${n}'); $.export('n', ${n}); return MARK()`;
    const steps = await Promise.all([1, 2, 3].map((n) => save(body(n))));
    const outcomes = await Promise.all(steps.map((step) => step()));
    expect(new Set(outcomes.map(valueOf)).size).toBe(1);
    expect(outcomes.map(({ step }) => step?.exports['n'])).toEqual(['1', '2', '3']);
    expect(outcomes.map(({ logs }) => logs.map(({ msg }) => msg))).toEqual(
      [1, 2, 3].map((n) => [`begin ${n}`, `end ${n}`]),
    );
  });

  it('name the lines of their own code in stacks', async () => {
    const save = workflow();
    const [one, two] = [await save(`\n\nthrow new Error('one')`), await save(`throw new Error('two')`)];
    const errors = [await one(), await two(), await one()].map(({ error }) => [error?.message, error?.place?.line]);
    expect(errors).toEqual([
      ['one', 5],
      ['two', 3],
      ['one', 5],
    ]);
  });

  it('fail alone when their module cannot be evaluated, and are evaluated again', async () => {
    const save = workflow();
    const works = await save(`return MARK()`);
    const mark = valueOf(await works());
    const broken = await save('', `globalThis.tries = (globalThis.tries ?? 0) + 1; throw new Error('try ' + tries);`);
    expect([(await broken()).error?.message, (await broken()).error?.message]).toEqual(['try 1', 'try 2']);
    const late = await save(
      `return waited`,
      `const waited = await new Promise((resolve) => setTimeout(resolve, 5, 'x'));`,
    );
    expect(valueOf(await late())).toBe('x');
    expect(valueOf(await works())).toBe(mark);
  });

  it('take down the others of their process, and get a new one', async () => {
    const save = workflow();
    const exits = await save(`if (steps.exit) process.exit(1); return MARK()`);
    const waits = await save(
      `if (steps.wait) await new Promise((resolve) => setTimeout(resolve, 2_000)); return MARK()`,
    );
    const mark = valueOf(await exits());
    expect(valueOf(await waits())).toBe(mark);
    const told = (steps: string): Partial<CallRequest> => ({ call: { kind: 'step', facts: { ...FACTS, steps } } });
    const waiting = waits(told('{"wait":true}'));
    const left = exits(told('{"exit":true}'));
    expect(await left).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
    expect(await waiting).toMatchObject({
      status: 'killed',
      error: { code: 'ProcessExited', message: expect.stringContaining('taken down by another run') },
    });
    expect(valueOf(await exits())).not.toBe(mark);
  });

  it('44: whose outcome nobody needs end with their process, and the others are interrupted', async () => {
    const save = workflow();
    const busy = await save('for (;;);');
    const other = await begun(await save(SLEEPS));
    const ending = new AbortController();
    const cancelling = busy({ timeoutMs: 60_000, signal: ending.signal });
    ending.abort();
    const [interrupted, cancelled] = [await other(), await cancelling];
    expect(cancelled).toMatchObject({ status: 'killed', error: { code: 'Timeout' } });
    expect(cancelled).not.toHaveProperty('interrupted');
    expect(interrupted).toMatchObject({ status: 'killed', interrupted: true });
    expect(valueOf(await (await save('return 1'))())).toBe(1);
  });

  it('and actions have the heap of their workflow, which the error of one that exceeds it names', async () => {
    const heap = `return require('node:v8').getHeapStatistics().heap_size_limit / 1024 / 1024`;
    const fill = 'const all = []; for (;;) all.push(new Array(1e5).fill(0.5))';
    const [measure, exceed] = [await workflow()(heap), await workflow()(fill)];
    const action = { shared: undefined, key: 'heap' };
    const within = async (part: object): Promise<number> => valueOf(await measure(part)) as number;
    for (const kind of [{}, action]) {
      const usual = await within({ ...kind, workspaceId: 'o_2' });
      expect([usual, await within({ ...kind, memoryMb: 512 })]).toEqual([usual, usual + 256]);
      const { error } = await exceed({ ...kind, workspaceId: 'o_3', memoryMb: 64, timeoutMs: 60_000 });
      expect(error).toMatchObject({
        code: 'OutOfMemory',
        message: expect.stringMatching(/limit 64 MB.*raise memory_mb$/),
      });
    }
  });

  it('that exhaust the memory of their process fail alone', async () => {
    const save = workflow();
    const large = await save('const all = []; for (;;) all.push(new Array(1e6).fill(0.5))');
    const other = await begun(await save(SLEEPS));
    const failed = await large({ timeoutMs: 60_000 });
    const interrupted = await other();
    expect(failed).toMatchObject({ status: 'killed', error: { code: 'OutOfMemory' } });
    expect(interrupted).toMatchObject({ status: 'killed', interrupted: true });
  });
});
