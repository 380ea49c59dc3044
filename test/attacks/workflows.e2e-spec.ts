import { describe, expect, it } from '@jest/globals';
import { type Data, type ErrorBody, type EventSummary } from '#test/harness/api-client.js';
import { type HttpAnswer, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly hops: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly steps: readonly { readonly namespace: string; readonly logs: readonly { readonly msg: string }[] }[];
}

const { api } = useInstance();

const ENDED = ['succeeded', 'exited', 'failed', 'cancelled'];
const code = (body: string): string => `export default { async run({ steps, $ }) { ${body} } }`;
const step = (body: string, more: object = {}): object => ({ namespace: 'a', code: code(body), ...more });

const deployed = async (steps: readonly object[], more: object = {}): Promise<Workflow> => {
  const body = { name: 'w', triggers: [{ type: 'http' }], steps, ...more };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
};
const hit = ({ triggers }: Workflow, body: unknown = {}): Promise<HttpAnswer> =>
  send(triggers[0]?.endpoint_url ?? '', { body });
const runOf = async (answer: HttpAnswer): Promise<Run> => {
  const path = `/v1/runs/${String(answer.headers['x-sluice-run-id'])}`;
  return eventually(`the end of ${path}`, async () => {
    const { body } = await api.call<Partial<Data<Run>>>('GET', path);
    return body.data && ENDED.includes(body.data.state) ? body.data : undefined;
  });
};
const ran = async (steps: readonly object[], more: object = {}): Promise<Run> =>
  runOf(await hit(await deployed(steps, more)));

// docs/reference/workflows.md#step-limits
describe('a run at its limits', () => {
  const small = (): Promise<Run> => ran([step('return 1')]);

  it.each([
    ['57: exports 7 MB', `$.export('a', 'x'.repeat(7 * 1024 * 1024))`, 'FunctionPayloadLimitExceeded'],
    ['returns 10 MB', `return 'x'.repeat(10 * 1024 * 1024)`, 'FunctionPayloadLimitExceeded'],
    ['exports 2,000 names', `for (let n = 0; n < 2_000; n++) $.export('n' + n, n)`, undefined],
    ['nests 10,000 levels', `let a = []; for (let n = 0; n < 10_000; n++) a = [a]; return a`, undefined],
    ['never returns', 'await new Promise(() => undefined)', 'Timeout'],
    ['never yields', 'for (;;);', 'Timeout'],
    ['ends its process', 'process.exit(0)', 'ProcessExited'],
    ['kills its process', `process.kill(process.pid, 'SIGTERM')`, 'ProcessExited'],
    ['fills its memory', 'const a = []; for (;;) a.push(new Array(100_000).fill(1))', 'OutOfMemory'],
    ['sends 101 messages', 'for (let n = 0; n < 101; n++) $.send.emit({ raw_event: { n } })', undefined],
  ])(
    'ends with its error when it does this, and others go on: %s',
    async (_what, body, expected) => {
      const [run, other] = await Promise.all([ran([step(body)], { settings: { timeout_seconds: 3 } }), small()]);
      expect([run.state, other.state]).toEqual(['failed', 'succeeded']);
      if (expected !== undefined) expect(run.error?.code).toBe(expected);
      expect(run.error?.message).not.toBe('');
    },
    60_000,
  );

  it('that logs 100,000 lines keeps the first 1,000, and says so', async () => {
    const run = await ran([step(`for (let n = 0; n < 100_000; n++) console.log(n)`)]);
    expect(run.state).toBe('succeeded');
    const { logs } = (await api.expect<Data<Run['steps'][number]>>(200, 'GET', `/v1/runs/${run.id}/steps/a`)).data;
    expect(logs.length).toBeLessThanOrEqual(1_001);
    expect(logs.at(-1)?.msg).not.toBe('99999');
  }, 60_000);

  it.each([
    ['within the limit', 2_000, 'succeeded'],
    ['beyond it by what resumes the run', 3_900, 'failed'],
    ['beyond it by what a step leaves', 4_500, 'failed'],
  ])(
    'that fills its event, props, exports, logs, messages, reply and resume data at once ends, once: %s',
    async (_what, size, state) => {
      const fill = `export default { props: { x: { type: 'any' } }, run({ $ }) {
        $.respond({ status: 200, body: 'r'.repeat(1_000_000) });
        for (let n = 0; n < 100; n++) $.send.emit({ raw_event: { a: 'e'.repeat(1_000) } });
        for (let n = 0; n < 1_000; n++) { console.log('l'.repeat(250)); $.export('n' + n, 'x'.repeat(${size})); }
        $.flow.suspend();
      } }`;
      const steps = [
        { namespace: 'a', code: fill, props: { x: '{{ event.body.pad }}' } },
        { namespace: 'b', code: code('return steps.a.$resume_data.length') },
      ];
      const workflow = await deployed(steps, { triggers: [{ type: 'http', response: 'custom' }] });
      const answer = await hit(workflow, { pad: 'b'.repeat(400_000) });
      expect([200, 400]).toContain(answer.status);
      const path = `/v1/runs/${String(answer.headers['x-sluice-run-id'])}`;
      const reached = await eventually(`${path} waits or ends`, async () => {
        const { body } = await api.call<Partial<Data<Run>>>('GET', path);
        return ['waiting', ...ENDED].find((each) => each === body.data?.state);
      });
      if (reached === 'waiting') await api.call('POST', `${path}/resume`, { body: { data: 'd'.repeat(450_000) } });
      const run = await runOf(answer);
      expect([run.state, run.error?.code ?? null]).toEqual([
        state,
        state === 'failed' ? 'FunctionPayloadLimitExceeded' : null,
      ]);
      const { data } = await api.expect<Data<unknown[]>>(200, 'GET', `/v1/workflows/${workflow.id}/runs`);
      expect([data.length, (await small()).state]).toEqual([1, 'succeeded']);
    },
    60_000,
  );
});

// docs/reference/workflows.md#expressions
describe('an expression', () => {
  it.each([
    ['56: require', `{{ require('fs').readdirSync('/') }}`],
    ['56: fetch', '{{ fetch }}'],
    ['the constructor of functions', `{{ steps.constructor.constructor('return process')().pid }}`],
    ['dynamic import', `{{ import('node:fs') }}`],
    ['56: an endless loop', '{{ (() => { for (;;); })() }}'],
    ['endless memory', `{{ (() => { let a = 'x'; for (;;) a += a; })() }}`],
    [
      'a getter of its scope',
      `{{ Object.defineProperty(steps, 'x', { get() { return this } }).x.process.mainModule }}`,
    ],
  ])(
    'reaches nothing outside of its realm: %s',
    async (_what, text) => {
      const steps = [step('return this.p', { props: { p: text } })];
      const props = `export default { props: { p: { type: 'any', optional: true } }, async run() { return this.p ?? null } }`;
      const reply = await api.call<ErrorBody & Data<Workflow>>('POST', '/v1/workflows', {
        body: { name: 'w', triggers: [{ type: 'http' }], steps: [{ ...steps[0], code: props }] },
      });
      if (reply.status === 400) return expect(reply.body.code).toBe('invalid_definition');
      const run = await runOf(await hit(reply.body.data));
      expect([run.state, run.error?.code]).toEqual(['failed', 'ExpressionError']);
      expect(run.error?.message).toMatch(/^props\.p/);
      return undefined;
    },
    60_000,
  );
});

describe('a definition', () => {
  it('in YAML that grows by aliases is refused at once', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n <= 9; n++) lines.push(`a${n}: &a${n} [${`*a${n - 1}, `.repeat(10)}]`);
    const body = `name: bomb\n${lines.join('\n')}\nsteps: []\n`;
    const reply = await api.call<ErrorBody>('POST', '/v1/workflows', {
      body,
      headers: { 'content-type': 'application/yaml' },
    });
    expect([400, 413]).toContain(reply.status);
    expect(['invalid_definition', 'workflow_too_large']).toContain(reply.body.code);
  });

  it('sets no header of the whole origin by its static response, and splits none', async () => {
    const headers = {
      'set-cookie': 'a=b',
      'content-security-policy': 'default-src *',
      'strict-transport-security': 'max-age=1',
      'clear-site-data': '"*"',
      'service-worker-allowed': '/',
      'x-own': 'kept',
    };
    const response = { response: 'static', static_response: { status: 200, headers, body: '<script>1</script>' } };
    const answer = await hit(await deployed([], { triggers: [{ type: 'http', ...response }] }));
    expect(answer.headers['x-own']).toBe('kept');
    expect(String(answer.headers['set-cookie'])).toMatch(/Path=\/h\/e[0-9a-z]{15}$/);
    for (const name of ['strict-transport-security', 'clear-site-data', 'service-worker-allowed'])
      expect(answer.headers[name]).toBeUndefined();
    expect(String(answer.headers['content-security-policy'])).toContain('sandbox');

    const split = { status: 200, headers: { 'x-own': 'a\r\nset-cookie: b=c' }, body: 'ok' };
    const reply = await api.call<ErrorBody>('POST', '/v1/workflows', {
      body: { name: 'w', triggers: [{ type: 'http', response: 'static', static_response: split }], steps: [] },
    });
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid_definition']);
  });
});

// docs/reference/workflows.md#run-urls
describe('a URL of a run', () => {
  interface Waiting {
    readonly path: string;
    readonly url: string;
  }
  const again = '$.flow.rerun(3_600_000, {}, 10)';
  const stateOf = async (path: string): Promise<string> => (await api.expect<Data<Run>>(200, 'GET', path)).data.state;
  const waiting = async (): Promise<Waiting> => {
    const answer = await hit(await deployed([step(`return ${again}`)]));
    const path = `/v1/runs/${String(answer.headers['x-sluice-run-id'])}`;
    return eventually(`${path} waits`, async () => {
      const { body } = await api.call<Partial<Data<{ state: string; steps: { exports: unknown }[] }>>>(
        'GET',
        `${path}?expand=data`,
      );
      if (body.data?.state !== 'waiting') return undefined;
      const { $return_value: urls } = body.data.steps[0]?.exports as { $return_value: { resume_url: string } };
      return { path, url: urls.resume_url };
    });
  };

  it('is refused when it is made of others, and ends no wait', async () => {
    const [mine, theirs] = await Promise.all([waiting(), waiting()]);
    const [base = '', token = ''] = /^(.*\/r\/)([^/]+)\//.exec(mine.url)?.slice(1) ?? [];
    const [named = '', signature = ''] = token.split('.');
    const [other = ''] = (/\/r\/([^/]+)\//.exec(theirs.url)?.[1] ?? '').split('.');
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    const forged = [
      `${other}.${signature}`,
      `${other.slice(0, 18)}${named.slice(18)}.${signature}`,
      `${named.slice(0, -1)}2.${signature}`,
      `${named.slice(0, -1)}01.${signature}`,
      `${named}.${flipped}`,
      `${named}.${'A'.repeat(86)}`,
      `${named}.`,
      named,
      `${token}.${signature}`,
      'x'.repeat(8_000),
    ];
    for (const each of forged) {
      for (const action of ['resume', 'cancel', 'confirm'])
        expect((await send(`${base}${each}/${action}`, { method: 'GET' })).status).toBe(404);
    }
    expect([await stateOf(mine.path), await stateOf(theirs.path)]).toEqual(['waiting', 'waiting']);
    expect((await send(mine.url)).status).toBe(200);
  });

  it('of an earlier execution ends no later wait', async () => {
    const { path, url } = await waiting();
    expect((await send(url)).status).toBe(200);
    await eventually('it waits again', async () =>
      (await api.expect<Data<{ steps: { runs: number; state: string }[] }>>(200, 'GET', path)).data.steps.some(
        ({ runs, state }) => runs === 2 && state === 'waiting',
      )
        ? true
        : undefined,
    );
    for (const action of ['resume', 'cancel', 'confirm'])
      expect((await send(url.replace(/resume$/, action), { method: 'GET' })).status).toBe(410);
    expect(await stateOf(path)).toBe('waiting');
  });

  it('takes no more than an endpoint does', async () => {
    const { path, url } = await waiting();
    const headers = { 'content-type': 'application/json' };
    const bodies: readonly [string, number][] = [
      ['x'.repeat(513 * 1024), 413],
      ['['.repeat(300) + ']'.repeat(300), 400],
    ];
    for (const [body, status] of bodies) expect((await send(url, { headers, body })).status).toBe(status);
    expect(await stateOf(path)).toBe('waiting');
  });
});

// docs/reference/workflows.md#subscribed
describe('a workflow that floods itself', () => {
  it('stops after 32 listeners, and tells $errors', async () => {
    const workflow = await deployed([step('$.send.emit({ raw_event: { again: true } })')]);
    await api.subscribe(workflow.id, workflow.id);
    await hit(workflow);
    const [error] = await eventually('the error at the limit', async () => {
      const path = `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event`;
      const { data } = await api.expect<Data<EventSummary[]>>(200, 'GET', path);
      return data.length > 0 ? data : undefined;
    });
    expect(JSON.stringify(error?.event)).toContain('HopLimitExceeded');
    const { data } = await api.expect<Data<Run[]>>(200, 'GET', `/v1/workflows/${workflow.id}/runs?limit=100`);
    expect(data.map(({ hops }) => hops).sort((a, b) => b - a)).toEqual(Array.from({ length: 33 }, (_, n) => 32 - n));
  }, 60_000);
});
