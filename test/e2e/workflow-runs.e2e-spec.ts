import { describe, expect, it } from '@jest/globals';
import { type HttpAnswer, jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Step {
  readonly namespace: string;
  readonly state: string;
  readonly skip_reason: string | null;
  readonly attempts: number;
  readonly exports: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string } | null;
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly test: boolean;
  readonly exit_reason: string | null;
  readonly error: Readonly<Record<string, unknown>> | null;
  readonly event: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const { api, server } = useInstance();

const ENDED = ['succeeded', 'exited', 'failed', 'cancelled'];
const code = (body: string): string => `export default { async run({ steps, $ }) { ${body} } }`;
const step = (namespace: string, body: string, more: object = {}): object => ({ namespace, code: code(body), ...more });

const deployed = async (steps: readonly object[], more: { trigger?: object; settings?: object } = {}) => {
  const { trigger = {}, settings = {} } = more;
  const body = { name: 'w', settings, triggers: [{ type: 'http', ...trigger }], steps };
  const { data } = await api.expect<{ readonly data: Workflow }>(200, 'POST', '/v1/workflows', { body });
  return { id: data.id, url: data.triggers[0]?.endpoint_url ?? '' };
};
const custom = (steps: readonly object[], settings: object = {}) =>
  deployed(steps, { trigger: { response: 'custom' }, settings });

const runIdIn = ({ headers }: HttpAnswer): string => String(headers['x-sluice-run-id']);
const runOf = (id: string, states: readonly string[] = ENDED): Promise<Run> =>
  eventually(`run ${id} in ${states.join()}`, async () => {
    const reply = await api.call<{ readonly data?: Run }>('GET', `/v1/runs/${id}`);
    return reply.body.data && states.includes(reply.body.data.state) ? reply.body.data : undefined;
  });
const ran = async (steps: readonly object[], settings: object = {}): Promise<Run> => {
  const { url } = await deployed(steps, { settings });
  return runOf(runIdIn(await send(url, { body: { n: 1 } })));
};
const stepOf = ({ steps }: Run, namespace: string): Step => {
  const found = steps.find((each) => each.namespace === namespace);
  if (!found) throw new Error(`the run has no step ${namespace}`);
  return found;
};

// docs/reference/workflows.md#http-replies
describe('the caller of a workflow', () => {
  it('20: needs the bearer token, which the event does not hold', async () => {
    const auth = { type: 'bearer', token: 'secret-token-1' };
    const { url } = await deployed([step('a', 'return steps.trigger.context.verified')], { trigger: { auth } });
    const refused = await send(url, { body: {}, headers: { authorization: 'Bearer wrong-token' } });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    const accepted = await send(url, { body: {}, headers: { authorization: 'Bearer secret-token-1' } });
    expect(accepted.status).toBe(200);
    const run = await runOf(runIdIn(accepted));
    expect(stepOf(run, 'a').exports).toEqual({ $return_value: true });
    expect(JSON.stringify(run.event)).not.toContain('secret-token-1');
  });

  it('21: gets an answer at once, with the id of its run', async () => {
    const { url } = await deployed([step('a', '')]);
    const answer = await send(url, { body: {} });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<p>Success</p>',
    ]);
    expect(runIdIn(answer)).toMatch(/^run_[0-9a-z]{18}$/);
    expect((await runOf(runIdIn(answer))).state).toBe('succeeded');
  });

  it('22: gets the static response', async () => {
    const trigger = { response: 'static', static_response: { status: 202, body: 'ok' } };
    const { url } = await deployed([step('a', '')], { trigger });
    const answer = await send(url, { body: {} });
    expect([answer.status, answer.text]).toEqual([202, 'ok']);
  });

  it.each([
    ['23: what $.respond gave', 'await $.respond({ status: 201, body: { a: 1 } })', 201, '{"a":1}'],
    ['24: 400 without $.respond', '', 400, 'No $.respond called in workflow'],
    ['24: 400 when the step throws', 'throw new Error("no")', 400, 'No $.respond called in workflow'],
    ['26: 400 when the run waits', '$.flow.delay(1000)', 400, '$.respond() not called for this invocation'],
  ])('gets %s', async (_what, body, status, text) => {
    const { url } = await custom([step('a', body)]);
    const answer = await send(url, { body: {} });
    expect([answer.status, answer.text]).toEqual([status, text]);
  });

  it('25: gets an immediate response while the run goes on', async () => {
    const { url } = await custom([
      step('a', 'await $.respond({ status: 202, immediate: true }); await new Promise((r) => setTimeout(r, 1500))'),
    ]);
    const answer = await send(url, { body: {} });
    expect(answer.status).toBe(202);
    expect((await runOf(runIdIn(answer))).state).toBe('succeeded');
  });

  it('27: leaves a test run that ran nothing, by its own wish', async () => {
    const { url } = await deployed([step('a', '')]);
    expect((await send(url, { method: 'OPTIONS' })).status).toBe(204);
    const run = await runOf(runIdIn(await send(url, { body: {}, headers: { 'x-pd-notrigger': '1' } })));
    expect(run).toMatchObject({ state: 'exited', test: true, exit_reason: 'x-pd-notrigger' });
  });

  it('14: finds no endpoint of an inactive workflow', async () => {
    const { id, url } = await deployed([step('a', '')]);
    await api.expect(200, 'PUT', `/v1/workflows/${id}`, { body: { active: false } });
    expect((await send(url, { body: {} })).status).toBe(404);
    await api.expect(200, 'PUT', `/v1/workflows/${id}`, { body: { active: true } });
    expect((await send(url, { body: {} })).status).toBe(200);
  });
});

// docs/reference/workflows.md#run-durable
describe('a run', () => {
  it('28: passes what a step exports to the next', async () => {
    const run = await ran([
      step('a', '$.export("x", steps.trigger.event.body.n); return 1'),
      step('b', 'return steps.a.$return_value + steps.a.x'),
    ]);
    expect(run.state).toBe('succeeded');
    expect(run.steps.map(({ exports }) => exports)).toEqual([{ x: 1, $return_value: 1 }, { $return_value: 2 }]);
  });

  it('29: fails with the error of its step, and tells $errors', async () => {
    const run = await ran([step('a', 'throw Object.assign(new Error("no"), { code: "E_X" })'), step('b', '')]);
    expect(run).toMatchObject({ state: 'failed', error: { code: 'E_X', message: 'no', namespace: 'a' } });
    expect(run.error?.['cellId']).toMatch(/^c_/);
    expect(stepOf(run, 'b').state).toBe('pending');
  });

  it('30: ends when a step says so, and keeps what it exports afterwards', async () => {
    const run = await ran([step('a', '$.flow.exit("enough"); $.export("late", 1)'), step('b', '')]);
    expect(run).toMatchObject({ state: 'exited', exit_reason: 'enough' });
    expect(stepOf(run, 'a').exports).toEqual({ late: 1 });
    expect(stepOf(run, 'b')).toMatchObject({ state: 'skipped', skip_reason: 'exit' });
  });

  it('31: skips steps', async () => {
    const run = await ran([step('a', '', { disabled: true }), step('b', '', { if: 'false' }), step('c', 'return 1')]);
    expect(run.steps.map(({ skip_reason }) => skip_reason)).toEqual(['disabled', 'if', null]);
  });

  it('32, 33: goes on after an error, at the next step or at a handler', async () => {
    const next = await ran([
      step('a', 'throw new Error("no")', { on_error: 'continue' }),
      step('b', 'return steps.a.$error.message'),
    ]);
    expect([next.state, stepOf(next, 'b').exports]).toEqual(['succeeded', { $return_value: 'no' }]);
    const handled = await ran([
      step('a', 'throw new Error("no")', { on_error: 'h' }),
      ...['b', 'h', 'c'].map((namespace) => step(namespace, '')),
    ]);
    expect(handled.steps.map(({ state, skip_reason }) => skip_reason ?? state)).toEqual([
      'failed',
      'on_error',
      'succeeded',
      'succeeded',
    ]);
  });

  it('34, 36: tries a step again, but not after an error of its configuration', async () => {
    const retry = { max_retries: 2, delay_seconds: 1 };
    const fails = 'if ($.context.run.attempt < 3) throw new Error("no"); return $.context.idempotency_key';
    const run = await ran([step('a', fails, { retry })]);
    expect(stepOf(run, 'a')).toMatchObject({ state: 'succeeded', attempts: 3 });
    expect(stepOf(run, 'a').exports).toEqual({ $return_value: `${run.id}/a` });
    const wrong = 'throw Object.assign(new Error("no"), { name: "ConfigurationError", code: "ConfigurationError" })';
    const never = await ran([step('a', wrong, { retry })]);
    expect([never.state, stepOf(never, 'a').attempts]).toEqual(['failed', 1]);
  });

  it('37: ends a step that takes too long', async () => {
    const run = await ran([step('a', 'await new Promise((r) => setTimeout(r, 5000))', { timeout_seconds: 1 })]);
    expect(run).toMatchObject({ state: 'failed', error: { code: 'Timeout' } });
  });

  it('38, 42: waits, and runs a step again', async () => {
    const delayed = await ran([
      step('a', '$.flow.delay(2000); return Date.now()'),
      step('b', 'return Date.now() - steps.a.$return_value'),
    ]);
    expect(stepOf(delayed, 'b').exports?.['$return_value']).toBeGreaterThanOrEqual(2_000);
    const again = 'const n = $.context.run.context?.n ?? 0; $.flow.rerun(100, { n: n + 1 }, 3); return n';
    const rerun = await ran([step('a', again), step('b', 'return steps.a.$return_value')]);
    expect(stepOf(rerun, 'b').exports).toEqual({ $return_value: 3 });
  });

  it('45, 46: goes on where it was after the server was killed', async () => {
    const slow = 'await new Promise((r) => setTimeout(r, 2000)); return $.context.idempotency_key';
    const { url } = await deployed([
      step('a', 'return 1'),
      step('b', slow),
      step('c', '$.flow.delay(1000); return steps.b.$return_value'),
      step('d', 'return steps.a.$return_value'),
    ]);
    const id = runIdIn(await send(url, { body: {} }));
    await runOf(id, ['running']);
    await eventually('step b runs', async () => {
      const reply = await api.call<{ readonly data?: Run }>('GET', `/v1/runs/${id}`);
      return reply.body.data && stepOf(reply.body.data, 'b').state === 'running' ? true : undefined;
    });
    await server.kill9();
    await server.restart();
    await runOf(id, ['waiting']);
    await server.kill9();
    await server.restart();
    const run = await runOf(id);
    expect(run.state).toBe('succeeded');
    expect(run.steps.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
    expect(stepOf(run, 'c').exports).toEqual({ $return_value: `${id}/b` });
    expect(stepOf(run, 'd').exports).toEqual({ $return_value: 1 });
  });

  it('47: is refused when the queue is full', async () => {
    const { url } = await custom([step('a', 'await new Promise((r) => setTimeout(r, 1500)); await $.respond({})')], {
      concurrency: 1,
      queue_size: 1,
    });
    const answers = await Promise.all([1, 2, 3].map((n) => send(url, { body: { n } })));
    const full = answers.find(({ status }) => status === 503);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503]);
    expect(full && jsonOf(full)).toMatchObject({ code: 'queue_full' });
    expect(full && (await runOf(runIdIn(full)))).toMatchObject({ state: 'failed', error: { code: 'EventQueueFull' } });
  });

  it('51: finishes with the version with which it started', async () => {
    const { id, url } = await deployed([step('a', '$.flow.delay(1500)'), step('b', 'return "old"')]);
    const run = runIdIn(await send(url, { body: {} }));
    await runOf(run, ['waiting']);
    await api.expect(200, 'PUT', `/v1/workflows/${id}`, {
      body: { name: 'w', triggers: [{ type: 'http' }], steps: [step('a', ''), step('b', 'return "new"')] },
    });
    const later = runIdIn(await send(url, { body: {} }));
    expect(stepOf(await runOf(later), 'b').exports).toEqual({ $return_value: 'new' });
    expect(stepOf(await runOf(run), 'b').exports).toEqual({ $return_value: 'old' });
  });

  it('55, 64: gets props from expressions, and variables in its code', async () => {
    const workspace = await api.expect<{ readonly data: { readonly orgs?: readonly { readonly id: string }[] } }>(
      200,
      'GET',
      '/v1/users/me',
    );
    const org = workspace.data.orgs?.[0]?.id ?? '';
    await api.expect(200, 'PUT', `/v1/workspaces/${org}/variables/A`, { body: { value: 'the-secret-value' } });
    const { url } = await deployed([
      step('a', 'return 20'),
      {
        namespace: 'b',
        code: 'export default { props: { n: "integer" }, run() { console.log(process.env.A); return this.n + 1 } }',
        props: { n: '{{ steps.a.$return_value + 1 }}' },
      },
    ]);
    const run = await runOf(runIdIn(await send(url, { body: {} })));
    expect(stepOf(run, 'b').exports).toEqual({ $return_value: 22 });
    expect(JSON.stringify(run)).not.toContain('the-secret-value');
  });

  it('is gone with its workflow', async () => {
    const { id, url } = await deployed([step('a', '')]);
    const run = runIdIn(await send(url, { body: {} }));
    await runOf(run);
    await api.expect(204, 'DELETE', `/v1/workflows/${id}`);
    expect((await send(url, { body: {} })).status).toBe(404);
    await api.expect(404, 'GET', `/v1/runs/${run}`);
  });
});
