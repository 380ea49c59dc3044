import { afterEach, describe, expect, it } from '@jest/globals';
import { type AskTrigger, type StepFacts } from '#libs/component-model/step-run.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { MB } from '../protocol/protocol.js';
import { type RunOutcome } from '../sandbox.js';
import { plainRecord } from '../testing/fuzzed-records.js';
import { mulberry } from '../testing/random.js';
import { WrittenChild } from '../testing/written-child.js';
import { userError } from './process-end.js';
import { ProcessSandbox } from './process-sandbox.js';
import { RunsMemory } from './runs-memory.js';

const FACTS: StepFacts = {
  context: {},
  steps: '{}',
  urls: null,
  stretchMs: 30_000,
  mostMs: 60_000,
  hasCaller: true,
  test: false,
};

const children: WrittenChild[] = [];
afterEach(() => children.splice(0).forEach((child) => child.kill()));

/** Starts a call of kind `step`, whose messages the spec writes. */
const start = (
  more: {
    readonly now?: () => number;
    readonly onReply?: (reply: HttpReply) => void;
    readonly onTrigger?: AskTrigger;
  } = {},
) => {
  const child = new WrittenChild();
  children.push(child);
  const spec = { sourceId: 'call_1', workspaceId: 'o_1', bundleFile: '', props: {}, db: {}, concurrency: 1 };
  const memory = new RunsMemory({ bytes: 64 * MB });
  const sandbox = new ProcessSandbox(spec, child, { memoryMb: 128 }, { now: more.now ?? (() => 1_000) }, memory);
  child.bind(sandbox);
  let index = 1;
  const say = (message: readonly unknown[], raw = ''): void => child.say(plainRecord(index++, message, raw));
  const call = sandbox.ask({ call: { kind: 'step', facts: FACTS }, props: {} }, 10_000, more);
  say(['s', 1, 1_000]);
  const end = async (error: unknown = null): Promise<RunOutcome> => {
    say(['d', 1, 1_000, error]);
    return call;
  };
  return { child, memory, say, call, end };
};

const HTTP = { kind: 'http', method: 'POST', url: 'https://a.example/x', headers: { a: 'b' }, body: 2, retry: true };

describe('the outcome of a step', () => {
  it('has its exports, messages and flow, and no object of a prototype', async () => {
    const { say, end } = start();
    say(['o', 1, '__proto__'], '{"a":1}');
    say(['o', 1, '$return_value'], 'null');
    say(['m', 1, HTTP], 'ab');
    say(['m', 1, { ...HTTP, body: null, retry: false }]);
    say(['m', 1, { kind: 'email', subject: 's', text: 3, html: 2 }], 'éxhi');
    say(['m', 1, { kind: 'email', subject: '', text: null, html: null }]);
    say(['m', 1, { kind: 'emit' }], '{"a":1}');
    say(['m', 1, { kind: 's3', bucket: 'b', prefix: '' }], '[1]');
    say(['m', 1, { kind: 'sse', channel: 'c' }], '0');
    say(['f', 1, 'rerun', 100, 3], '{"n":1}');
    const { status, step } = await end();
    expect(status).toBe('ok');
    expect(Object.entries(step?.exports ?? {})).toEqual([
      ['__proto__', '{"a":1}'],
      ['$return_value', 'null'],
    ]);
    expect(step?.flow).toEqual({ kind: 'rerun', ms: 100, maxRetries: 3, context: '{"n":1}' });
    expect(step?.sends).toEqual([
      { ...HTTP, body: 'ab' },
      { ...HTTP, body: null, retry: false },
      { kind: 'email', subject: 's', text: 'éx', html: 'hi' },
      { kind: 'email', subject: '', text: null, html: null },
      { kind: 'emit', event: '{"a":1}' },
      { kind: 's3', bucket: 'b', prefix: '', payload: '[1]' },
      { kind: 'sse', channel: 'c', payload: '0' },
    ]);
  });

  it.each([
    [['exit', 0, 0], 'enough', { kind: 'exit', reason: 'enough' }],
    [['exit', 0, 0], '', { kind: 'exit', reason: null }],
    [['delay', 1.5, 0], '', { kind: 'delay', ms: 1.5 }],
    [['suspend', 31_622_400_000, 0], '', { kind: 'suspend', ms: 31_622_400_000 }],
    [['rerun', 1, 0], '', { kind: 'rerun', ms: 1, maxRetries: 0, context: null }],
  ])('goes on with %j', async (flow, raw, read) => {
    const { say, end } = start();
    say(['f', 1, ...flow], raw);
    expect((await end()).step?.flow).toEqual(read);
  });

  it('keeps what it left when it failed or its process ended', async () => {
    const failed = start();
    failed.say(['o', 1, 'a'], '1');
    const outcome = await failed.end(userError('E_X', 'no'));
    expect([outcome.status, outcome.step?.exports['a']]).toEqual(['threw', '1']);
    const killed = start();
    killed.say(['m', 1, { kind: 'emit' }], '{}');
    killed.child.kill();
    expect((await killed.call).step?.sends).toEqual([{ kind: 'emit', event: '{}' }]);
  });

  // docs/reference/workflows.md#flow-trigger
  it('has the workflows that it starts, and each call its answer', async () => {
    const { child, say, end } = start({
      onTrigger: (workflow, index) =>
        workflow === 'p_1'
          ? { workflowId: workflow, runId: `run_${index}` }
          : { error: { code: 'WorkflowNotFound', message: 'no' } },
    });
    say(['t', 1, 7, 'p_1'], '{"a":1}');
    say(['t', 1, 8, 'ext:x/y'], 'null');
    say(['t', 1, 9, 'p_1'], '2');
    const { step } = await end();
    expect(step?.triggers).toEqual([
      { workflowId: 'p_1', index: 0, event: '{"a":1}' },
      { workflowId: 'p_1', index: 2, event: '2' },
    ]);
    expect(child.told.filter(({ t }) => t === 'triggered')).toEqual([
      { t: 'triggered', n: 1, id: 7 },
      { t: 'triggered', n: 1, id: 8, error: { code: 'WorkflowNotFound', message: 'no' } },
      { t: 'triggered', n: 1, id: 9 },
    ]);
  });

  it.each([
    ['a workflow of a strange form', ['t', 1, 0, 'p_../x'], '1'],
    ['no event', ['t', 1, 0, 'p_1'], ''],
    ['an event that is no JSON', ['t', 1, 0, 'p_1'], '{'],
  ])('ends a process that starts a workflow with %s', async (_what, message, raw) => {
    const { say, call } = start({ onTrigger: () => ({ workflowId: 'p_1', runId: 'run_1' }) });
    say(message, raw);
    expect(await call).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
  });

  it('ends a process that starts more than 100 workflows in one step', async () => {
    const { say, call } = start({ onTrigger: () => ({ workflowId: 'p_1', runId: 'run_1' }) });
    for (let id = 0; id <= 100; id++) say(['t', 1, id, 'p_1'], '1');
    expect((await call).status).toBe('killed');
  });

  it('tells a reply at once', async () => {
    const replies: HttpReply[] = [];
    const { say, end } = start({ onReply: (reply) => replies.push(reply) });
    say(['r', 1, 201, {}, 1, 0], 'x');
    expect(replies).toEqual([{ status: 201, headers: {}, body: 'x', base64: false }]);
    expect((await end()).response).toEqual(replies[0]);
  });

  it('has the time of the last request for more time, up to the longest', async () => {
    let now = 1_000;
    const { child, say, end } = start({ now: () => now });
    for (const at of [5_000, 40_000, 30_000]) {
      now = at;
      say(['w', 1, at]);
    }
    expect(child.breaches).toBe(0);
    expect((await end()).step?.refreshedAt).toBe(30_000);
  });
});

describe('a process that forges the messages of a step', () => {
  const deep = `${'['.repeat(257)}${']'.repeat(257)}`;
  const name = 'n'.repeat(257);
  it.each([
    [['o', 1, 'a'], ''],
    [['o', 1, 'a'], '{'],
    [['o', 1, 'a'], deep],
    [['o', 1, ''], '1'],
    [['o', 1, 1], '1'],
    [['o', 1, name], '1'],
    [['o', 1, 'a\0'], '1'],
    [['o', 1, '\ud800'], '1'],
    [['o', 1, '$error'], '1'],
    [['o', 1, '$resume_data'], '1'],
    [['o', 1, 'a', 1], '1'],
    [['o', 2, 'a'], '1'],
    [['f', 1, 'exit', 1, 0], ''],
    [['f', 1, 'exit', 0, 0], 'x'.repeat(50_000)],
    [['f', 1, 'delay', 0, 0], ''],
    [['f', 1, 'delay', 31_622_400_001, 0], ''],
    [['f', 1, 'delay', '1', 0], ''],
    [['f', 1, 'delay', 1, 0], '1'],
    [['f', 1, 'rerun', 1, 1_001], ''],
    [['f', 1, 'rerun', 1, 0.5], ''],
    [['f', 1, 'rerun', 1, 1], deep],
    [['f', 1, 'rerun', 1], ''],
    [['f', 1, 'trigger', 1, 0], ''],
    [['m', 1, { ...HTTP, body: 3 }], 'ab'],
    [['m', 1, { ...HTTP, more: 1 }], 'ab'],
    [['m', 1, { ...HTTP, url: 'file:///etc/passwd' }], 'ab'],
    [['m', 1, { ...HTTP, method: 'CONNECT' }], 'ab'],
    [['m', 1, { ...HTTP, headers: { a: 'b\r\nc: d' } }], 'ab'],
    [['m', 1, { ...HTTP, headers: { 'content-length': '1' } }], 'ab'],
    [['m', 1, { ...HTTP, headers: { A: '1' } }], 'ab'],
    [['m', 1, { ...HTTP, headers: { a: ['1'] } }], 'ab'],
    [['m', 1, { ...HTTP, retry: 1 }], 'ab'],
    [['m', 1, { kind: 'email', subject: 'a\nbcc: b', text: null, html: null }], ''],
    [['m', 1, { kind: 'email', subject: 's', text: 2, html: -1 }], 'a'],
    [['m', 1, { kind: 'emit' }], '[]'],
    [['m', 1, { kind: 'emit' }], ''],
    [['m', 1, { kind: 's3', bucket: '', prefix: '' }], '1'],
    [['m', 1, { kind: 's3', bucket: 'b', prefix: 'a/../b' }], '1'],
    [['m', 1, { kind: 's3', bucket: 'b', prefix: 'x'.repeat(972) }], '1'],
    [['m', 1, { kind: 'sse', channel: 'a\nb' }], '1'],
    [['m', 1, { kind: 'sse', channel: 'a' }], '1,'],
    [['m', 1, { kind: 'toString' }], '1'],
    [['m', 1, null], '1'],
    [['w', 1, 8.65e15], ''],
    [['w', 1, 1_000], 'x'],
    [['v', 1], '1'],
  ])('ends with %j', async (message, raw) => {
    const { child, say, call } = start();
    say(message, raw);
    expect(child.breaches).toBe(1);
    expect(await call).toMatchObject({ status: 'killed', step: { exports: {}, flow: null, sends: [] } });
  });

  it.each([
    ['an export twice', ['o', 1, 'a'], 2],
    ['a second flow', ['f', 1, 'exit', 0, 0], 2],
    ['more than 100 messages', ['m', 1, { kind: 'emit' }], 101],
  ])('ends with %s', (_what, message, times) => {
    const { child, say } = start();
    const raw = message[0] === 'f' ? '' : '{}';
    for (let n = 1; n < times; n++) say(message, raw);
    expect(child.breaches).toBe(0);
    say(message, raw);
    expect(child.breaches).toBe(1);
  });

  it('ends beyond 1,001 names, and beyond 6 MB of exports and messages together', () => {
    const names = start();
    for (let n = 0; n < 1_001; n++) names.say(['o', 1, `n${n}`], '1');
    expect(names.child.breaches).toBe(0);
    names.say(['o', 1, 'one more'], '1');
    expect(names.child.breaches).toBe(1);
    const large = start();
    const text = JSON.stringify('x'.repeat(2 * MB + 400));
    for (const each of ['a', 'b']) large.say(['o', 1, each], text);
    expect(large.child.breaches).toBe(0);
    large.say(['m', 1, { kind: 'sse', channel: 'c' }], text);
    expect([large.child.breaches, large.memory.stats().bytes < 7 * MB]).toEqual([1, true]);
  });

  it.each([
    [['o', 1, 'a'], '1'],
    [['f', 1, 'exit', 0, 0], ''],
    [['m', 1, { kind: 'emit' }], '{}'],
    [['w', 1, 1_000], ''],
  ])('ends with %j of an action', async (message, raw) => {
    const child = new WrittenChild();
    children.push(child);
    const spec = { sourceId: 'call_1', workspaceId: 'o_1', bundleFile: '', props: {}, db: {}, concurrency: 1 };
    const sandbox = new ProcessSandbox(
      spec,
      child,
      { memoryMb: 128 },
      { now: () => 1_000 },
      new RunsMemory({ bytes: MB }),
    );
    child.bind(sandbox);
    const call = sandbox.ask({ call: { kind: 'additional_props' }, props: {} }, 10_000);
    child.say(plainRecord(1, ['s', 1, 1_000]));
    child.say(plainRecord(2, message, raw));
    expect([child.breaches, (await call).status, (await call).step]).toEqual([1, 'killed', undefined]);
  });

  it('leaves a well-formed outcome whatever it sends', async () => {
    const random = mulberry(57);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const value = (): unknown =>
      pick<unknown>(['a', '$summary', '$x', '__proto__', '\ud800', '', 1, 0, -1, 1e15, null, true, [], {}, HTTP]);
    const raws = ['', '1', '{}', '"\\ud800"', '[', deep, 'ab', 'é', JSON.stringify('x'.repeat(100_000))];
    const flows = ['exit', 'delay', 'suspend', 'rerun', 'x'];
    let [breaches, kept] = [0, 0];
    for (let round = 0; round < 500; round++) {
      const { child, say, call } = start();
      for (let n = 0; n < 20 && child.alive; n++) {
        const tag = pick(['o', 'o', 'f', 'm', 'w', 'r', 'l']);
        const head = random() < 0.5 ? { kind: pick(['emit', 'sse', 's3', 'email']), channel: value() } : value();
        const rest = tag === 'f' ? [pick(flows), value(), value()] : tag === 'm' ? [head] : [value()];
        say([tag, 1, ...rest], pick(raws));
      }
      breaches += child.breaches;
      child.kill();
      const { step, held } = await call;
      for (const text of Object.values(step?.exports ?? {})) {
        JSON.parse(text);
        kept++;
      }
      held?.release();
    }
    expect(breaches).toBeGreaterThan(300);
    expect(kept).toBeGreaterThan(10);
  });
});
