import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { type EventSource, useStreams } from '#test/harness/event-source.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

const instance = useInstance();
const { api } = instance;

const open = useStreams(instance);

/** A workflow of the steps `a` and `b`. */
const deployed = async (first: string, more: object = {}): Promise<Workflow> => {
  const steps = [
    { namespace: 'a', code: `export default { async run({ $, steps }) { ${first} } }` },
    { namespace: 'b', code: 'export default { run() { console.log("in b"); return 2 } }' },
  ];
  const body = { name: 'w', triggers: [{ type: 'http' }], steps, ...more };
  return (await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body })).data;
};
const runOf = async ({ triggers }: Workflow, event: object = {}): Promise<string> =>
  String((await send(triggers[0]?.endpoint_url ?? '', { body: event })).headers['x-sluice-run-id']);
const untilReadable = (run: string): Promise<unknown> =>
  eventually(`run ${run} is readable`, async () =>
    (await api.call('GET', `/v1/runs/${run}`)).status === 200 ? true : undefined,
  );
/** Events of a stream, each with its name and its step or state. */
const seen = ({ events }: EventSource): readonly (readonly unknown[])[] =>
  events.map(({ event, data }) => {
    const { namespace, state, msg } = JSON.parse(data) as Record<string, unknown>;
    return [event, ...(namespace === undefined ? [] : [namespace]), msg ?? state];
  });

// docs/reference/workflows.md#run-streams
describe('the stream of a run', () => {
  it('70: has the run and its steps so far, then what changes, and ends after the run with its final state', async () => {
    const run = await runOf(await deployed('$.flow.suspend(); return 1'));
    await untilReadable(run);
    const stream = await open(`/v1/runs/${run}/sse`);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    await eventually('the step waits', () =>
      JSON.stringify(seen(stream)).includes('["step","a","waiting"]') ? true : undefined,
    );
    const before = seen(stream).length;
    await api.expect(200, 'POST', `/v1/runs/${run}/resume`, { body: { data: 1 } });
    await stream.untilEnded();
    const after = seen(stream).slice(before);
    expect(after).toEqual(
      expect.arrayContaining([
        ['step', 'a', 'succeeded'],
        ['step', 'b', 'running'],
        ['log', 'b', 'in b'],
        ['step', 'b', 'succeeded'],
      ]),
    );
    expect(after.at(-1)).toEqual(['run', 'succeeded']);
    expect(stream.comments[0]).toBe('sse-handshake');
    // The history may have the end a moment later.
    const data = await eventually('the history has the end', async () => {
      const path = `/v1/runs/${run}`;
      const { data: found } = await api.expect<Data<{ steps: unknown; event: unknown; state: string }>>(
        200,
        'GET',
        path,
      );
      return found.state === 'succeeded' ? found : undefined;
    });
    const { steps: _, event: __, ...listed } = data;
    expect(stream.values.at(-1)).toEqual(listed);
  });

  it('70: has the lines of a step while it executes, each once', async () => {
    const pause = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;
    const run = await runOf(await deployed(`${pause(1_000)} console.log('one'); ${pause(3_000)} console.log('two')`));
    await untilReadable(run);
    const stream = await open(`/v1/runs/${run}/sse`);
    await eventually('the first line', () => (JSON.stringify(seen(stream)).includes('"one"') ? true : undefined));
    expect(JSON.stringify(seen(stream))).not.toContain('["step","a","succeeded"]');
    await stream.untilEnded();
    expect(seen(stream).filter(([event]) => event === 'log')).toEqual([
      ['log', 'a', 'one'],
      ['log', 'a', 'two'],
      ['log', 'b', 'in b'],
    ]);
  });

  it('70: of a run that has ended has the run and its steps, and ends', async () => {
    const run = await runOf(await deployed('throw new Error("x".repeat(3_000))'));
    await eventually('the run has failed', async () => {
      const { body } = await api.call<Partial<Data<{ state: string }>>>('GET', `/v1/runs/${run}`);
      return body.data?.state === 'failed' ? true : undefined;
    });
    const stream = await open(`/v1/runs/${run}/sse?access_token=${instance.server.apiKey}`, { key: null });
    await stream.untilEnded();
    expect(seen(stream)).toEqual([
      ['step', 'a', 'failed'],
      ['run', 'failed'],
    ]);
  });

  it.each(['/v1/runs/run_none/sse', '/v1/workflows/p_none/runs/sse'])('of an unknown id is 404: %s', async (path) => {
    expect((await api.call('GET', path)).status).toBe(404);
  });
});

// docs/reference/workflows.md#run-streams
describe('the stream of the runs of a workflow', () => {
  it('has the run at each change of its state, and ends with the workflow', async () => {
    const workflow = await deployed('if (steps.trigger.event.body.fail) throw new Error("asked"); return 1');
    const stream = await open(`/v1/workflows/${workflow.id}/runs/sse`);
    const runs = [await runOf(workflow), await runOf(workflow, { fail: true })];
    const statesOf = (run: string | undefined): readonly unknown[] =>
      (stream.values as readonly { id: string; state: string }[])
        .filter(({ id }) => id === run)
        .map((each) => each.state);
    await eventually('both have ended', () =>
      statesOf(runs[0]).includes('succeeded') && statesOf(runs[1]).includes('failed') ? true : undefined,
    );
    for (const run of runs) expect(statesOf(run)).toContain('running');
    expect(stream.comments[0]).toBe('sse-handshake');
    expect(new Set(stream.events.map(({ event }) => event))).toEqual(new Set(['run']));
    const listed = await eventually('the list has both ends', async () => {
      const path = `/v1/workflows/${workflow.id}/runs?state=succeeded,failed`;
      const { data } = await api.expect<Data<object[]>>(200, 'GET', path);
      return data.length === 2 ? data : undefined;
    });
    expect(stream.values).toEqual(expect.arrayContaining(listed));
    await api.expect(204, 'DELETE', `/v1/workflows/${workflow.id}`);
    await stream.untilEnded();
  });
});

// docs/reference/workflows.md#send-sse and rest-api.md#stream-workflows
describe('the stream of a workflow', () => {
  const sending = '$.send.sse({ channel: "news", payload: { n: steps.trigger.event.body.n, text: "a\\nb" } })';

  it('61: has what its steps send, and for a later reader the last 100', async () => {
    const many = `for (let n = 0; n < 99; n++) $.send.sse({ channel: "c" + n, payload: n }); ${sending}`;
    const workflow = await deployed(`${many}; $.send.emit({ raw_event: { a: 1 } })`);
    const first = await open(`/v1/workflows/${workflow.id}/sse`);
    await runOf(workflow, { n: 1 });
    await first.until(100);
    expect(first.events.at(-1)).toMatchObject({ event: 'news', data: '{"n":1,"text":"a\\nb"}' });
    expect(first.events[0]).toEqual({ id: expect.stringMatching(/^\d+-\d+$/), event: 'c0', data: '0' });
    await runOf(workflow, { n: 2 });
    await first.until(200);
    const later = await open(`/pipelines/${workflow.id}/sse?access_token=${instance.server.apiKey}`, { key: null });
    await later.until(100);
    expect(later.events).toEqual(first.events.slice(100));
    expect(later.comments[0]).toBe('keepalive');
    const resumed = await open(`/v1/workflows/${workflow.id}/sse`, {
      headers: { 'last-event-id': later.events[97]?.id ?? '' },
    });
    expect(await resumed.until(2)).toEqual(later.values.slice(98));
  });

  // docs/reference/workflows.md#external-id
  it('is found by the external id of the workflow, with a key', async () => {
    const steps = [
      { namespace: 'a', code: `export default { run({ $, steps }) { ${sending} } }` },
      { namespace: 'b', code: 'export default { run() { throw new Error("asked") } }' },
    ];
    const workflow = await deployed('', { external_id: 'team/streams', settings: { public_sse: true }, steps });
    await runOf(workflow, { n: 1 });
    const key = instance.server.apiKey;
    for (const path of ['/v1/workflows/ext:team%2Fstreams/sse', '/pipelines/ext%3Ateam%2Fstreams/sse']) {
      const stream = await open(`${path}?access_token=${key}`, { key: null });
      await stream.until(1);
      expect(stream.events[0]).toMatchObject({ event: 'news' });
      expect((await open(path, { key: null })).status).toBe(401);
    }
    expect((await open('/v1/workflows/ext:team%2Fother/sse')).status).toBe(404);
    await eventually('the error is readable', async () => {
      const { data } = await api.expect<Data<unknown[]>>(
        200,
        'GET',
        '/v1/workflows/ext:team%2Fstreams/$errors/event_summaries',
      );
      return data.length === 1 ? true : undefined;
    });
  });

  // docs/reference/rest-api.md#stream-public
  it('needs no key while public_sse is true, and ends when that changes', async () => {
    const workflow = await deployed(sending);
    const path = `/v1/workflows/${workflow.id}`;
    const keyless = () => open(`${path}/sse`, { key: null });
    expect((await keyless()).status).toBe(401);
    await api.expect(200, 'PUT', path, { body: { settings: { public_sse: true } } });
    const stream = await keyless();
    await runOf(workflow, { n: 1 });
    await stream.until(1);
    expect(stream.events[0]).toMatchObject({ event: 'news', data: '{"n":1,"text":"a\\nb"}' });
    expect((await open(`${path}/sse`, { key: null, headers: { authorization: 'Bearer sk_wrong' } })).status).toBe(401);
    expect((await open(`${path}/runs/sse`, { key: null })).status).toBe(401);
    await api.expect(200, 'PUT', path, { body: { settings: { public_sse: null } } });
    await stream.untilEnded();
    expect((await keyless()).status).toBe(401);
  });
});
