import { describe, expect, it } from '@jest/globals';
import { type HttpAnswer, jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Step {
  readonly namespace: string;
  readonly state: string;
  readonly skip_reason: string | null;
  readonly runs: number;
  readonly attempts: number;
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
  readonly exports: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string } | null;
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly test: boolean;
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
  readonly waiting: {
    readonly kind: string;
    readonly namespace: string;
    readonly since_ms: number;
    readonly resume_at_ms: number;
  } | null;
  readonly exit_reason: string | null;
  readonly error: Readonly<Record<string, unknown>> | null;
  readonly event: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const instance = useInstance();
const { api, server } = instance;

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
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
const runsOf = async (workflow: string): Promise<readonly { readonly id: string }[]> => {
  const path = `/v1/workflows/${workflow}/runs?test=any`;
  return (await api.expect<{ readonly data: readonly { readonly id: string }[] }>(200, 'GET', path)).data;
};
const errorsOf = async (workflow: string): Promise<readonly object[]> => {
  const path = `/v1/workflows/${workflow}/$errors/event_summaries?expand=event`;
  return (await api.expect<{ readonly data: readonly object[] }>(200, 'GET', path)).data;
};
const pause = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

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

  it('21: can read its run within two seconds', async () => {
    const { url } = await deployed([step('a', '')]);
    // Another process may hold the machine for a moment, but not each time.
    await eventually('a run that is readable in time', async () => {
      const id = runIdIn(await send(url, { body: {} }));
      const acceptedAt = Date.now();
      await eventually(`${id} is readable`, async () =>
        (await api.call('GET', `/v1/runs/${id}`)).status === 200 ? true : undefined,
      );
      return Date.now() - acceptedAt <= 2_000 ? true : undefined;
    });
  });

  it('22: gets the static response', async () => {
    const trigger = { response: 'static', static_response: { status: 202, body: 'ok' } };
    const { url } = await deployed([step('a', '')], { trigger });
    const answer = await send(url, { body: {} });
    expect([answer.status, answer.text]).toEqual([202, 'ok']);
  });

  it.each([
    ['23: what $.respond gave', 'await $.respond({ status: 201, body: { a: 1 } })', 201, JSON_TYPE, '{"a":1}'],
    ['24: 400 without $.respond', '', 400, TEXT_TYPE, 'No $.respond called in workflow'],
    ['24: 400 when the step throws', 'throw new Error("no")', 400, TEXT_TYPE, 'No $.respond called in workflow'],
    ['26: 400 when the run waits', '$.flow.delay(5000)', 400, TEXT_TYPE, '$.respond() not called for this invocation'],
  ])('gets %s', async (_what, body, status, type, text) => {
    const { url } = await custom([step('a', body)]);
    const answer = await send(url, { body: {} });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([status, type, text]);
  });

  it('25: gets an immediate response while the run goes on', async () => {
    const { url } = await custom([step('a', `await $.respond({ status: 202, immediate: true }); ${pause(3_000)}`)]);
    const answer = await send(url, { body: {} });
    const answeredAt = Date.now();
    expect(answer.status).toBe(202);
    const run = await runOf(runIdIn(answer));
    expect(run.state).toBe('succeeded');
    // The step works for three seconds after its reply.
    expect(run.ended_at_ms - answeredAt).toBeGreaterThan(1_000);
  });

  it('27: leaves a test run that ran nothing, by its own wish', async () => {
    const { id, url } = await deployed([step('a', '')]);
    expect((await send(url, { method: 'OPTIONS' })).status).toBe(204);
    // In roles a proxy answers 502 when the server closes while the body is sent.
    expect([413, 502]).toContain((await send(url, { body: 'x'.repeat(513 * 1024) })).status);
    const run = await runOf(runIdIn(await send(url, { body: {}, headers: { 'x-pd-notrigger': '1' } })));
    expect(run).toMatchObject({ state: 'exited', test: true, exit_reason: 'x-pd-notrigger' });
    expect(stepOf(run, 'a')).toMatchObject({ runs: 0, exports: null });
    // Runs are listed in the order of their events, so one of an earlier request would be here.
    expect((await runsOf(id)).map((each) => each.id)).toEqual([run.id]);
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
    const { id, url } = await deployed([
      step('a', 'throw Object.assign(new Error("no"), { code: "E_X" })'),
      step('b', ''),
    ]);
    const run = await runOf(runIdIn(await send(url, { body: { n: 1 } })));
    expect(run).toMatchObject({ state: 'failed', error: { code: 'E_X', message: 'no', namespace: 'a' } });
    expect(run.error?.['cellId']).toMatch(/^c_/);
    expect(stepOf(run, 'b').state).toBe('pending');
    const [told] = await eventually('the error', async () => {
      const found = await errorsOf(id);
      return found.length > 0 ? found : undefined;
    });
    expect(told).toMatchObject({
      event: {
        original_event: { body: { n: 1 } },
        original_context: { id: run.id, workflow_id: id, source_type: 'HTTP', test: false },
        error: { ...run.error, stack: expect.stringContaining('no'), ts: expect.stringMatching(/Z$/) },
      },
      metadata: { name: '$errors', emitter_id: id },
    });
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
    const { id, url } = await deployed([
      step('a', 'throw new Error("no")', { on_error: 'continue' }),
      step('b', 'if (steps.trigger.event.body.stop) throw new Error("stop"); return steps.a.$error.message'),
    ]);
    const next = await runOf(runIdIn(await send(url, { body: {} })));
    expect([next.state, stepOf(next, 'b').exports]).toEqual(['succeeded', { $return_value: 'no' }]);
    await runOf(runIdIn(await send(url, { body: { stop: true } })));
    // The events of a workflow are in order, so one of the first run would be here.
    const errors = await eventually('the error of b', async () => {
      const found = await errorsOf(id);
      return found.length > 0 ? found : undefined;
    });
    expect(errors).toMatchObject([{ event: { error: { namespace: 'b', message: 'stop' } } }]);

    const handler = await deployed([
      step('a', 'if (steps.trigger.event.body.fail) throw new Error("no")', { on_error: 'h' }),
      ...['b', 'h', 'c'].map((namespace) => step(namespace, '')),
    ]);
    const wayOf = async (body: object): Promise<readonly string[]> => {
      const { steps } = await runOf(runIdIn(await send(handler.url, { body })));
      return steps.map(({ state, skip_reason }) => skip_reason ?? state);
    };
    expect(await wayOf({ fail: true })).toEqual(['failed', 'on_error', 'succeeded', 'succeeded']);
    expect(await wayOf({})).toEqual(['succeeded', 'succeeded', 'handler', 'succeeded']);
  });

  it('34, 36: tries a step again, but not after an error of its configuration', async () => {
    const retry = { max_retries: 2, delay_seconds: 1 };
    const key = '$.context.idempotency_key';
    const fails = `const { error } = steps.a?.$attempt ?? {};
      if ($.context.run.attempt < 3) throw new Error((error ? error.message + ' ' : '') + ${key});
      return error.message + ' ' + ${key}`;
    const run = await ran([step('a', fails, { retry })]);
    expect(stepOf(run, 'a')).toMatchObject({ state: 'succeeded', attempts: 3 });
    expect(stepOf(run, 'a').exports).toEqual({ $return_value: Array(3).fill(`${run.id}/a`).join(' ') });
    const wrong = 'throw Object.assign(new Error("no"), { name: "ConfigurationError", code: "ConfigurationError" })';
    const never = await ran([step('a', wrong, { retry })]);
    expect([never.state, stepOf(never, 'a').attempts]).toEqual(['failed', 1]);
  });

  it('37: ends a step that takes too long', async () => {
    const run = await ran([step('a', 'await new Promise((r) => setTimeout(r, 5000))', { timeout_seconds: 1 })]);
    expect(run).toMatchObject({ state: 'failed', error: { code: 'Timeout' } });
    expect(run.ended_at_ms - run.started_at_ms).toBeLessThan(4_000);
  });

  it('38: waits as long as a step says', async () => {
    const { url } = await deployed([
      step('a', '$.flow.delay(2000); return Date.now()'),
      step('b', 'return Date.now()'),
    ]);
    const id = runIdIn(await send(url, { body: {} }));
    const { waiting } = await runOf(id, ['waiting']);
    expect(waiting).toMatchObject({ kind: 'delay', namespace: 'a' });
    expect((waiting?.resume_at_ms ?? 0) - (waiting?.since_ms ?? 0)).toBe(2_000);
    const run = await runOf(id);
    const [before, after] = ['a', 'b'].map((each) => Number(stepOf(run, each).exports?.['$return_value']));
    const lasted = (after ?? 0) - (before ?? 0);
    expect([lasted >= 2_000, lasted <= 3_500]).toEqual([true, true]);
  });

  it('42: runs a step again, with what it passes, as often as it says', async () => {
    const again = '$.flow.rerun(100, { n: 1 }, 3); return [$.context.run.runs, $.context.run.context]';
    const run = await ran([step('a', again), step('b', 'return steps.a.$return_value')]);
    expect(run.state).toBe('succeeded');
    expect(stepOf(run, 'a').runs).toBe(4);
    expect(stepOf(run, 'b').exports).toEqual({ $return_value: [4, { n: 1 }] });
    const passed = 'const { n = 0 } = $.context.run.context ?? {}; $.flow.rerun(100, { n: n + 1 }, 3); return n';
    const counted = await ran([step('a', passed)]);
    expect(stepOf(counted, 'a').exports).toEqual({ $return_value: 3 });
  });

  it('45, 46: goes on where it was after the server was killed', async () => {
    // Tells the receiver of each execution, with its key.
    const told = `await fetch(${JSON.stringify(instance.receiver.url)}, {
      method: 'POST', body: $.context.idempotency_key + ' ' + $.context.run.attempt });`;
    const { url } = await deployed([
      step('a', `${told} return 1`),
      step('b', `${told} ${pause(2_000)} return 2`),
      step('c', `${told} $.flow.delay(1000); return steps.b.$return_value`),
      step('d', 'return [steps.a.$return_value, steps.c.$return_value, Date.now()]'),
    ]);
    const id = runIdIn(await send(url, { body: {} }));
    const executions = (): readonly string[] =>
      instance.receiver.received.map(({ text }) => text).filter((text) => text.startsWith(id));
    await instance.receiver.until('step b runs', () => executions().length === 2);
    await server.kill9();
    await server.restart();
    const { waiting } = await runOf(id, ['waiting']);
    await server.kill9();
    await server.restart();
    const run = await runOf(id);
    expect(run.state).toBe('succeeded');
    expect(run.steps.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
    expect(executions()).toEqual(['a', 'b', 'b', 'c'].map((namespace) => `${id}/${namespace} 1`));
    const [one, two, resumedAt] = stepOf(run, 'd').exports?.['$return_value'] as readonly number[];
    expect([one, two]).toEqual([1, 2]);
    expect(resumedAt).toBeGreaterThanOrEqual(waiting?.resume_at_ms ?? Infinity);
  }, 400_000);

  it('47: is refused when the queue is full', async () => {
    const busy = `${pause(3_000)} await $.respond({})`;
    const full = { concurrency: 1, queue_size: 1 };
    const { url } = await deployed([step('a', busy)], { settings: full });
    const [first = '', second = '', third = ''] = [
      ...[runIdIn(await send(url, { body: {} })), runIdIn(await send(url, { body: {} }))],
      runIdIn(await send(url, { body: {} })),
    ];
    expect(await runOf(third)).toMatchObject({ state: 'failed', error: { code: 'EventQueueFull' } });
    const stateNow = async (id: string): Promise<string> =>
      (await api.expect<{ readonly data: Run }>(200, 'GET', `/v1/runs/${id}`)).data.state;
    expect(await Promise.all([first, second].map(stateNow))).toEqual(['running', 'queued']);

    const called = await custom([step('a', busy)], full);
    const answers = await Promise.all([1, 2, 3].map((n) => send(called.url, { body: { n } })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503]);
    const refused = answers.find(({ status }) => status === 503);
    expect(refused && jsonOf(refused)).toMatchObject({ code: 'queue_full' });
    expect(refused?.headers['retry-after']).toBe('1');
    expect(refused && (await runOf(runIdIn(refused)))).toMatchObject({ error: { code: 'EventQueueFull' } });
  }, 60_000);

  it('51: finishes with the version with which it started, and a queued one starts with the one in force', async () => {
    const steps = (text: string) => [
      step('a', 'if (steps.trigger.event.body.n === 1) $.flow.suspend()'),
      step('b', `return "${text}"`),
    ];
    const { id, url } = await deployed(steps('old'), { settings: { concurrency: 1, hold_slot: true } });
    const run = runIdIn(await send(url, { body: { n: 1 } }));
    await runOf(run, ['waiting']);
    const queued = runIdIn(await send(url, { body: { n: 2 } }));
    await runOf(queued, ['queued']);
    await api.expect(200, 'PUT', `/v1/workflows/${id}`, {
      body: { name: 'w', triggers: [{ type: 'http' }], steps: steps('new') },
    });
    await api.expect(200, 'POST', `/v1/runs/${run}/resume`, { body: {} });
    const ends = [await runOf(run), await runOf(queued)];
    expect(ends.map((each) => [each.version, stepOf(each, 'b').exports])).toEqual([
      [1, { $return_value: 'old' }],
      [2, { $return_value: 'new' }],
    ]);
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
