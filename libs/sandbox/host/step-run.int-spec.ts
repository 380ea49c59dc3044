import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { type StepFacts } from '#libs/component-model/step-run.js';
import { type CallRequest } from '../component-caller.js';
import { detectIsolation } from '../jail/detect.js';
import { bundleAt, ComponentSandboxes } from '../testing/component-sandboxes.js';
import { processCaller } from './process-caller.js';
import { SandboxPool } from './sandbox-pool.js';

const URLS = {
  resume_url: 'https://s/r/t/resume',
  cancel_url: 'https://s/r/t/cancel',
  confirm_url: 'https://s/r/t/confirm',
};
const CONTEXT = { id: 'run_1', run: { runs: 1, attempt: 1, context: null, callback_request: null }, JIT: false };
const FACTS: StepFacts = {
  context: CONTEXT,
  steps: JSON.stringify({ trigger: { event: { body: { n: 1 } }, context: { id: 'run_1' } }, a: { $return_value: 2 } }),
  urls: URLS,
  stretchMs: 30_000,
  mostMs: 60_000,
  hasCaller: true,
  test: false,
};

describe('a step of a workflow', () => {
  let sandboxes: ComponentSandboxes;
  let pool: SandboxPool;

  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(await detectIsolation('auto'));
    pool = new SandboxPool(sandboxes.factory);
  });
  afterAll(async () => {
    await pool.close();
    await sandboxes.close();
  });

  const callOf = async (
    code: string,
    facts: Partial<StepFacts> = {},
    part: Partial<CallRequest> = {},
  ): Promise<CallOutcome> =>
    processCaller({ pool }).call({
      workspaceId: 'o_1',
      bundle: bundleAt(await sandboxes.bundle(code)),
      props: {},
      call: { kind: 'step', facts: { ...FACTS, ...facts } },
      timeoutMs: 10_000,
      ...part,
    });
  const step = (body: string, facts?: Partial<StepFacts>, part?: Partial<CallRequest>): Promise<CallOutcome> =>
    callOf(`export default defineComponent({ async run({ $, steps, event }) { ${body} } })`, facts, part);
  const valueOf = ({ step: answer, error }: CallOutcome): unknown => {
    const text = answer?.exports['$return_value'];
    if (text === undefined) throw new Error(`${error?.code}: ${error?.message}`);
    return JSON.parse(text);
  };
  const DEEP = `const deep = (levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));`;

  it('gets its props, the steps before it, the event, and what is about the run', async () => {
    const outcome = await step(
      `steps.a.$return_value++; return [this.p, steps.a.$return_value, event === steps.trigger.event, event.body,
        $.context.id, Object.keys($), Object.keys($.flow), Object.keys($.send), '$emit' in this]`,
      {},
      { props: { p: { kind: 'value', value: 'x' } } },
    );
    expect(valueOf(outcome)).toEqual([
      'x',
      3,
      true,
      { n: 1 },
      'run_1',
      ['context', 'export', 'respond', 'flow', 'send'],
      ['exit', 'delay', 'suspend', 'rerun', 'refreshTimeout', 'trigger'],
      ['http', 'email', 'emit', 's3', 'sse'],
      false,
    ]);
  });

  it('gets its item and index when it runs once for each item, and cannot wait', async () => {
    const item = { text: '{"n":[1]}', index: 2 };
    const body = `const waits = ['delay', 'suspend', 'rerun'].map((name) => {
      try { $.flow[name](1) } catch (error) { return error.message }
    });
    $.flow.exit('enough');
    return [args.item, args.index, waits]`;
    const code = `export default { run(args) { const { $ } = args; ${body} } }`;
    const outcome = await callOf(code, { item });
    expect(valueOf(outcome)).toEqual([
      { n: [1] },
      2,
      ['delay', 'suspend', 'rerun'].map((name) => `$.flow.${name}: an item of for_each cannot wait`),
    ]);
    expect(outcome.step?.flow).toEqual({ kind: 'exit', reason: 'enough' });
    expect(valueOf(await callOf(`export default { run: (args) => Object.keys(args) }`))).toEqual([
      '$',
      'steps',
      'event',
    ]);
  });

  it('leaves its exports, the last of each name, and nothing for a missing return', async () => {
    const outcome = await step(
      `$.export('n', { a: 1 }); $.export('n', 2); $.export('u'); $.export('$summary', 'done'); $.export('__proto__', 1)`,
    );
    expect(outcome).toMatchObject({ status: 'ok', step: { flow: null, reply: null, sends: [] } });
    expect(Object.entries(outcome.step?.exports ?? {})).toEqual([
      ['n', '2'],
      ['u', 'null'],
      ['$summary', '"done"'],
      ['__proto__', '1'],
    ]);
  });

  it('leaves what it did before it threw, and does not go on as it had asked', async () => {
    const outcome = await step(
      `console.log('said'); $.export('a', 1); $.send.emit({ raw_event: { a: 1 } }); $.respond({ body: 'x' }); $.flow.delay(5);
       throw Object.assign(new Error('no'), { code: 'E_X' })`,
    );
    expect(outcome).toMatchObject({
      status: 'threw',
      error: { code: 'E_X', message: 'no' },
      logs: [{ k: 'console.log', msg: 'said' }],
      step: { flow: null, sends: [{ kind: 'emit', event: '{"a":1}' }], reply: { status: 200, body: 'x' } },
    });
    expect({ ...outcome.step?.exports }).toEqual({ a: '1' });
    const stray = await step(
      `$.export('a', 1); setTimeout(() => { throw new Error('stray') }); await new Promise(() => {})`,
    );
    expect([stray.status, stray.error?.message, stray.step?.exports['a']]).toEqual(['threw', 'stray', '1']);
  });

  it.each([
    ['a name of the platform', `$.export('$error', 1)`, 'TypeError', '$.export: $error is given by the platform'],
    ['a value that is no JSON', `return () => 1`, 'Error', 'the returned value: a function cannot be written as JSON'],
    ['7 MB of exports', `$.export('a', 'x'.repeat(7 << 20))`, 'FunctionPayloadLimitExceeded', '$.export: this run'],
    ['7 MB returned', `return 'x'.repeat(7 << 20)`, 'FunctionPayloadLimitExceeded', 'the returned value: this run'],
    [
      '7 MB in all',
      `$.export('a', 'x'.repeat(4 << 20)); await $.respond({ body: 'x'.repeat(3 << 20) })`,
      'FunctionPayloadLimitExceeded',
      'respond: this run',
    ],
    [
      'a deep export',
      `${DEEP} $.export('a', deep(257))`,
      'JSONNestedPropertyLimitExceeded',
      '$.export: the value of a',
    ],
    ['a deep return', `${DEEP} return deep(257)`, 'JSONNestedPropertyLimitExceeded', 'the returned value: the value'],
    [
      '1,001 names',
      `for (let n = 0; n <= 1000; n++) $.export('n' + n, n)`,
      'FunctionPayloadLimitExceeded',
      '1000 names',
    ],
    ['no time', `$.flow.delay(0)`, 'RangeError', '$.flow.delay: the time must be'],
    ['too much time', `$.flow.suspend(31622400001)`, 'RangeError', '$.flow.suspend: the time must be'],
    ['too many retries', `$.flow.rerun(1, {}, 1001)`, 'RangeError', '$.flow.rerun: the number of retries must be'],
    ['a wrong url', `$.send.http({ url: 5 })`, 'TypeError', '$send.http: invalid value 5 for url'],
    [
      'two lines in a channel',
      `$.send.sse({ channel: 'a\\nb', payload: 1 })`,
      'TypeError',
      '$send.sse: the value for channel',
    ],
    [
      'a wrong header',
      `$.send.http({ url: 'http://a', headers: { a: 'b\\nc' } })`,
      'TypeError',
      '$send.http: the value for headers',
    ],
    [
      '101 messages',
      `for (let n = 0; n <= 100; n++) $.send.sse({ channel: 'c', payload: n })`,
      'Error',
      'at most 100 messages',
    ],
  ])('throws at %s', async (_what, body, code, message) => {
    const outcome = await step(body);
    expect([outcome.status, outcome.error?.code]).toEqual(['threw', code]);
    expect(outcome.error?.message).toContain(message);
  });

  it('carries values at their limits', async () => {
    const outcome = await step(
      `${DEEP} $.export('a', 'x'.repeat(5 << 20)); $.export('a', 'y'.repeat(5 << 20)); return deep(256)`,
    );
    expect([outcome.status, outcome.step?.exports['a']?.slice(0, 3)]).toEqual(['ok', '"yy']);
    const carried = await step(`return steps.a.text.length`, {
      steps: JSON.stringify({ trigger: { event: null }, a: { text: '"é'.repeat(1 << 20) } }),
    });
    expect(valueOf(carried)).toBe(2 << 20);
  });

  it.each([
    [`return $.flow.exit('enough')`, { kind: 'exit', reason: 'enough' }],
    [`$.flow.delay(5); $.flow.exit()`, { kind: 'exit', reason: null }],
    [`$.flow.exit({ a: 1 })`, { kind: 'exit', reason: '{"a":1}' }],
    [`$.flow.rerun(1, { big: 'x'.repeat(1000) }); $.flow.delay(2000)`, { kind: 'delay', ms: 2_000 }],
    [`$.flow.suspend()`, { kind: 'suspend', ms: 86_400_000 }],
    [`$.flow.rerun(100, { n: 1 })`, { kind: 'rerun', ms: 100, context: '{"n":1}', maxRetries: 10 }],
    [`$.flow.rerun(100)`, { kind: 'rerun', ms: 100, context: null, maxRetries: 10 }],
  ])('asks with %s that the run goes on so', async (body, flow) => {
    expect((await step(body)).step?.flow).toEqual(flow);
  });

  it('gets the addresses that end its wait; a test has none and does not wait', async () => {
    const body = `return [$.flow.delay(1), $.flow.suspend(1, { a: 1 }), $.flow.rerun(1, { a: 1 })]`;
    expect(valueOf(await step(body))).toEqual([URLS, URLS, URLS]);
    const test = await step(body, { test: true });
    const none = { resume_url: null, cancel_url: null, confirm_url: null };
    expect([valueOf(test), test.step?.flow]).toEqual([[none, none, none], null]);
    expect(test.logs.map(({ k, msg }) => `${k}: ${msg}`)).toEqual([
      'flow.delay: 1 ms: a test does not wait',
      'flow.suspend: 1 ms: a test does not wait',
      'flow.rerun: 1 ms, with context {"a":1}: a test does not wait',
    ]);
  });

  it('sends messages as the server delivers them', async () => {
    const { step: answer } = await step(
      `$.send.http({ url: 'https://a.example/x?a=1', data: { é: 1 }, headers: { 'X-A': 1, Connection: 'close' },
         params: { b: [2, 3] }, auth: { username: 'u', password: 'p' }, retry: true, more: 1 });
       $.send.http({ url: 'https://a.example' });
       $.send.email({ subject: 's', text: 'é', html: '<p>' });
       $.send.emit({ raw_event: { a: 1 } });
       $.send.s3({ bucket: 'b', prefix: 'p', payload: [1] });
       $.send.sse({ channel: 'c', payload: null });`,
    );
    expect(answer?.sends).toEqual([
      {
        kind: 'http',
        method: 'POST',
        url: 'https://a.example/x?a=1&b=2&b=3',
        headers: { 'x-a': '1', authorization: 'Basic dTpw', 'content-type': 'application/json' },
        body: '{"é":1}',
        retry: true,
      },
      { kind: 'http', method: 'GET', url: 'https://a.example/', headers: {}, body: null, retry: false },
      { kind: 'email', subject: 's', text: 'é', html: '<p>' },
      { kind: 'emit', event: '{"a":1}' },
      { kind: 's3', bucket: 'b', prefix: 'p', payload: '[1]' },
      { kind: 'sse', channel: 'c', payload: 'null' },
    ]);
  });

  it('replies once, at once when it asks for it, and with a stream after its end', async () => {
    const replies: HttpReply[] = [];
    const immediate = await step(
      `$.respond({ status: 201, body: { a: 1 }, immediate: true }); $.respond({ body: 'second' })`,
      {},
      { onReply: (reply) => replies.push(reply) },
    );
    expect(replies).toEqual([immediate.step?.reply]);
    expect(immediate.step?.reply).toMatchObject({ status: 201, body: '{"a":1}' });
    const late = await step(
      `const { Readable } = require('node:stream'); await $.respond({ body: Readable.from(['a', 'b']) })`,
    );
    expect(late.step?.reply).toMatchObject({ body: 'YWI=', base64: true });
  });

  it('is told that nobody waits for its reply', async () => {
    const outcome = await step(`await $.respond({ status: 201 }); $.respond({ status: 'x' })`, { hasCaller: false });
    expect([outcome.step?.reply, outcome.error?.message]).toEqual([null, expect.stringContaining('status must be')]);
    expect(outcome.logs.map(({ k, msg }) => `${k}: ${msg}`)).toEqual([
      'warning: $.respond: no caller waits for this run, so the reply with status 201 reaches nobody',
    ]);
  });

  it('ends at its time, unless it asks for more, and not beyond the longest', async () => {
    const sleep = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;
    const slow = await step(`$.send.emit({ raw_event: {} }); ${sleep(60_000)}`, {}, { timeoutMs: 500 });
    expect(slow).toMatchObject({ status: 'killed', error: { code: 'Timeout' }, step: { sends: [{ kind: 'emit' }] } });
    expect(slow.error?.message).toBe(
      'the step took longer than its limit of 500 ms: make it faster, or raise timeout_seconds',
    );
    const more = await step(
      `const now = Date.now(); const by = $.flow.refreshTimeout(); ${sleep(1_500)} return by >= now + 30_000`,
      {},
      { timeoutMs: 1_000 },
    );
    expect(valueOf(more)).toBe(true);
    expect(more.step?.refreshedAt).toEqual(expect.any(Number));
    const most = await step(
      `for (;;) { $.flow.refreshTimeout(); ${sleep(50)} }`,
      { mostMs: 1_000 },
      { timeoutMs: 500 },
    );
    expect(most).toMatchObject({ status: 'killed', error: { code: 'Timeout' } });
  });

  it.each([
    ['that exits', 'process.exit(0)', 'ProcessExited'],
    ['that fills the memory', 'const all = []; for (;;) all.push(new Array(1_000_000).fill(1))', 'OutOfMemory'],
  ])('%s ends with %s', async (_what, body, code) => {
    expect(await step(body)).toMatchObject({ status: 'killed', error: { code }, step: { exports: {}, flow: null } });
  });

  it('drops lines of its log beyond the limits, and says so', async () => {
    const { logs } = await step(`for (let n = 0; n < 100_000; n++) console.log(n)`);
    expect([logs.length, logs.at(-1)?.msg]).toEqual([
      1_001,
      expect.stringContaining('Further log lines of this run are dropped'),
    ]);
  });

  it('reads and changes the db that the call brings, and leaves it to no other call', async () => {
    const code = `this.db.set('n', this.db.get('n') + 1); this.db.set('gone', undefined); return this.db.get('n')`;
    const shared = { name: 'dbs', env: {} };
    for (const part of [{ key: 'dbs' }, { shared }])
      for (const n of ['1', '5']) {
        const outcome = await step(code, { db: { n, gone: '""' } }, { ...part, props: { db: { kind: 'db' } } });
        expect(valueOf(outcome)).toBe(Number(n) + 1);
        expect(outcome.step?.dbChanges).toEqual({ n: String(Number(n) + 1), gone: null });
      }
    const other = await step(`return this.db.get('n') ?? 'none'`, {}, { shared, props: { db: { kind: 'db' } } });
    expect([valueOf(other), other.step?.dbChanges]).toEqual(['none', undefined]);
  });

  it('answers also when its code cannot be loaded', async () => {
    const outcome = await callOf(`throw new Error('at the top')`);
    expect(outcome).toMatchObject({
      status: 'threw',
      error: { message: 'at the top' },
      step: { sends: [], reply: null },
    });
  });
});
