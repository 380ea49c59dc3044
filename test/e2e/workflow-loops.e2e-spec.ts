import { describe, expect, it } from '@jest/globals';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Item {
  readonly index: number;
  readonly state: string;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}
interface Step {
  readonly namespace: string;
  readonly state: string;
  readonly exports: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly items?: readonly Item[];
  readonly logs: readonly { readonly msg: string }[];
  readonly sends: readonly { readonly id: string; readonly state: string }[];
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly exit_reason: string | null;
  readonly error: { readonly code: string } | null;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
  readonly steps: readonly object[];
}

const { api, server } = useInstance();

/** Items after which the server is killed. Eight processes start again for minutes. */
const KILLED_AFTER = process.env.SLUICE_TEST_DEPLOYMENT === 'roles' ? [400] : [100, 400, 700];
const ENDED = ['succeeded', 'exited', 'failed', 'cancelled'];
const step = (namespace: string, body: string, more: object = {}): object => ({
  namespace,
  code: `export default { async run({ steps, $, item, index }) { ${body} } }`,
  ...more,
});

const deployed = async (steps: readonly object[]): Promise<Workflow> => {
  const body = { name: 'w', triggers: [{ type: 'http' }], steps };
  return (await api.expect<{ readonly data: Workflow }>(200, 'POST', '/v1/workflows', { body })).data;
};
const begin = async ({ triggers: [trigger] }: Workflow, body: object = {}): Promise<string> =>
  String((await send(trigger?.endpoint_url ?? '', { body })).headers['x-sluice-run-id']);
const runOf = (id: string, withinMs?: number): Promise<Run> =>
  eventually(
    `the end of run ${id}`,
    async () => {
      const reply = await api.call<{ readonly data?: Run }>('GET', `/v1/runs/${id}?expand=data`);
      return reply.body.data && ENDED.includes(reply.body.data.state) ? reply.body.data : undefined;
    },
    withinMs,
  );
const ran = async (steps: readonly object[], body: object = {}): Promise<Run> =>
  runOf(await begin(await deployed(steps), body));
const stepOf = ({ steps }: Run, namespace: string): Step => {
  const found = steps.find((each) => each.namespace === namespace);
  if (!found) throw new Error(`the run has no step ${namespace}`);
  return found;
};

// docs/reference/workflows.md#loops
describe('a step with for_each', () => {
  it.each([1, 2])('53: runs once for each item, %i at once, and lists the results in order', async (concurrency) => {
    const loop = { for_each: '[1,2,3]', concurrency };
    const workflow = await deployed([step('a', 'return item * 2', loop), step('b', 'return steps.a')]);
    expect(workflow.steps[0]).toMatchObject(loop);
    const run = await runOf(await begin(workflow));
    expect(run.state).toBe('succeeded');
    const a = stepOf(run, 'a');
    expect(a.exports).toMatchObject({ $return_value: [2, 4, 6], $summary: '3 of 3 items' });
    expect(stepOf(run, 'b').exports).toMatchObject({ $return_value: a.exports });
    expect(a.items).toEqual([0, 1, 2].map((index) => ({ index, state: 'succeeded', attempts: 1, error: null })));
  });

  it('53: has as many items at once as its concurrency, and begins them in order', async () => {
    const times = `const from = Date.now(); await new Promise((resolve) => setTimeout(resolve, 100));
      return [from, Date.now()]`;
    const run = await ran([
      step('one', times, { for_each: '[1,2,3]' }),
      step('all', times, { for_each: '[1,2,3]', concurrency: 3 }),
    ]);
    const spans = (namespace: string): readonly (readonly [number, number])[] =>
      stepOf(run, namespace).exports?.['$return_value'] as readonly [number, number][];
    const [first, second, third] = spans('one');
    expect(first?.[1]).toBeLessThanOrEqual(second?.[0] ?? 0);
    expect(second?.[1]).toBeLessThanOrEqual(third?.[0] ?? 0);
    const all = spans('all');
    expect(Math.max(...all.map(([from]) => from))).toBeLessThan(Math.min(...all.map(([, to]) => to)));
  });

  it('gives item and index to the expressions of its props, and a key to each item', async () => {
    const code = `export default { props: { name: { type: 'string' }, n: { type: 'integer' } },
      run({ $, item }) { return [this.name, this.n, item, $.context.idempotency_key.split('/').slice(1)] } }`;
    const props = { name: '{{ item.name }}-{{ index }}', n: '{{ item.n }}' };
    const run = await ran([{ namespace: 'a', code, props, for_each: '{{ event.body.list }}', concurrency: 2 }], {
      list: [
        { name: 'x', n: 1 },
        { name: 'y', n: 2 },
      ],
    });
    expect(stepOf(run, 'a').exports?.['$return_value']).toEqual([
      ['x-0', 1, { name: 'x', n: 1 }, ['a', 'item-0']],
      ['y-1', 2, { name: 'y', n: 2 }, ['a', 'item-1']],
    ]);
  });

  it('54: is null at an item that fails and goes on with continue, or stops', async () => {
    const throwing = `if (item === 2) throw Object.assign(new Error('not two'), { code: 'E_2' }); return item`;
    const loop = { for_each: '[1,2,3]' };
    const goesOn = await ran([step('a', throwing, { ...loop, on_error: 'continue' }), step('b', 'return 1')]);
    expect(goesOn.state).toBe('succeeded');
    const a = stepOf(goesOn, 'a');
    expect(a.exports).toMatchObject({ $return_value: [1, null, 3], $summary: '2 of 3 items' });
    const items = a.exports?.['$items'] as readonly object[];
    expect(items[1]).toMatchObject({ index: 1, state: 'failed', error: { code: 'E_2', message: 'not two' } });
    expect(a.items?.map(({ state, error }) => [state, error?.code])).toEqual([
      ['succeeded', undefined],
      ['failed', 'E_2'],
      ['succeeded', undefined],
    ]);
    const stopped = await ran([step('a', throwing, loop), step('b', 'return 1')]);
    expect([stopped.state, stopped.error?.code, stepOf(stopped, 'b').state]).toEqual(['failed', 'E_2', 'pending']);
    expect(stepOf(stopped, 'a').items?.map(({ state }) => state)).toEqual(['succeeded', 'failed', 'pending']);
  });

  it.each([
    ['5', 'ExpressionError', 'for_each: the expression must give a list'],
    ['steps.none.list', 'ExpressionError', 'for_each: '],
    ['Array.from({ length: 1001 })', 'ForEachLimitExceeded', 'the list of for_each has 1001 items'],
  ])('54: fails with the list %s', async (list, code, message) => {
    const run = await ran([step('a', 'return item', { for_each: list, on_error: 'stop' })]);
    const { error } = stepOf(run, 'a');
    expect([run.state, error?.code]).toEqual(['failed', code]);
    expect(error?.message).toContain(message);
  });

  it('is skipped when its condition is falsy, and succeeds without items', async () => {
    const run = await ran([
      step('a', 'return item', { if: 'false', for_each: 'none.such' }),
      step('b', 'return item', { for_each: '[]' }),
    ]);
    expect(run.state).toBe('succeeded');
    expect(stepOf(run, 'a').state).toBe('skipped');
    expect(stepOf(run, 'b').exports).toMatchObject({ $return_value: [], $items: [], $summary: '0 of 0 items' });
  });

  it('tries each item again by itself', async () => {
    const body = `if (index === 1 && $.context.run.attempt === 1) throw new Error('once'); return $.context.run.attempt`;
    const retry = { max_retries: 2, delay_seconds: 1 };
    const run = await ran([step('a', body, { for_each: '[1,2,3]', retry })]);
    expect(run.state).toBe('succeeded');
    const { exports, items } = stepOf(run, 'a');
    expect(exports?.['$return_value']).toEqual([1, 2, 1]);
    expect(items?.map(({ attempts }) => attempts)).toEqual([1, 2, 1]);
  });

  it('ends an item that takes too long, and no other', async () => {
    const late = 'await new Promise((resolve) => setTimeout(resolve, 60_000))';
    const body = `if (item === 2) ${late}; return [item, $.context.run.attempt]`;
    const loop = { for_each: '[1,2,3]', concurrency: 3, timeout_seconds: 2, on_error: 'continue' };
    const run = await ran([step('a', body, loop), step('b', 'return 1')]);
    expect(run.state).toBe('succeeded');
    const { exports, items } = stepOf(run, 'a');
    expect(exports?.['$return_value']).toEqual([[1, 1], null, [3, 1]]);
    expect(items?.map(({ state, attempts, error }) => [state, attempts, error?.code])).toEqual([
      ['succeeded', 1, undefined],
      ['failed', 1, 'Timeout'],
      ['succeeded', 1, undefined],
    ]);
  });

  it('runs no item again that has ended, when the server is killed within 1,000 items', async () => {
    const body = `await new Promise((resolve) => setTimeout(resolve, 5));
      const n = (this.db.get('n') ?? 0) + 1; this.db.set('n', n); return [index, n]`;
    const code = `export default { props: { db: '$.service.db' }, async run({ index }) { ${body} } }`;
    const workflow = await deployed([
      { namespace: 'a', code, for_each: 'Array.from({ length: 1000 }, (_, n) => n)' },
      step('b', 'return steps.a.$return_value'),
    ]);
    const id = await begin(workflow);
    for (const ended of KILLED_AFTER) {
      await eventually(
        `${ended} items have ended`,
        async () => {
          const reply = await api.call<{ readonly data?: Run }>('GET', `/v1/runs/${id}`);
          const items = reply.body.data && stepOf(reply.body.data, 'a').items;
          return items && items.filter(({ state }) => state === 'succeeded').length >= ended ? true : undefined;
        },
        60_000,
        200,
      );
      await server.kill9();
      await server.restart();
    }
    const run = await runOf(id, 200_000);
    expect(run.state).toBe('succeeded');
    const each = Array.from({ length: 1_000 }, (_, index) => [index, index + 1]);
    expect(stepOf(run, 'b').exports?.['$return_value']).toEqual(each);
    expect(stepOf(run, 'a').items?.every(({ state, attempts }) => state === 'succeeded' && attempts === 1)).toBe(true);
  }, 500_000);

  it('lists the log and the messages of all items', async () => {
    const body = `console.log("item", index); $.send.http({ url: "http://127.0.0.1:9/none", data: { index } })`;
    const run = await ran([step('a', body, { for_each: '[1,2]' })]);
    const { logs, sends } = stepOf(run, 'a');
    expect(logs.map(({ msg }) => msg)).toEqual(['item 0', 'item 1']);
    const found = await eventually('both messages are given up', async () => {
      const now = stepOf(await runOf(run.id), 'a').sends;
      return now.every(({ state }) => state === 'failed') ? now : undefined;
    });
    expect(found.map(({ id }) => id)).toEqual(sends.map(({ id }) => id));
    expect(new Set(found.map(({ id }) => id)).size).toBe(2);
  });

  it('67: goes on with the items that failed when its run is replayed from there', async () => {
    const body = `if (index === 1 && !$.context.replay) throw new Error('once');
      return [item, $.context.id, $.context.idempotency_key]`;
    const workflow = await deployed([step('a', body, { for_each: '[1,2,3]' })]);
    const failed = await runOf(await begin(workflow));
    expect(failed.state).toBe('failed');
    const replay = await api.expect<{ readonly data: Run }>(202, 'POST', `/v1/runs/${failed.id}/replay`, {
      body: { from: 'failed' },
    });
    const run = await runOf(replay.data.id);
    const key = (index: number): string => `${failed.id}/a/item-${index}`;
    expect(stepOf(run, 'a').exports?.['$return_value']).toEqual([
      [1, failed.id, key(0)],
      [2, run.id, key(1)],
      [3, run.id, key(2)],
    ]);
  });

  it('ends its run with $.flow.exit, and starts no further item', async () => {
    const run = await ran([step('a', `if (index === 1) $.flow.exit('enough'); return item`, { for_each: '[1,2,3]' })]);
    expect([run.state, run.exit_reason]).toEqual(['exited', 'enough']);
    expect(stepOf(run, 'a').exports).toMatchObject({ $return_value: [1, 2, null], $summary: '2 of 3 items' });
  });

  it('cannot wait', async () => {
    const run = await ran([step('a', '$.flow.delay(1000)', { for_each: '[1]' })]);
    expect(stepOf(run, 'a').error?.message).toBe('$.flow.delay: an item of for_each cannot wait');
  });

  it('runs an action of its own for each item', async () => {
    const code = `export default { key: 'double', version: '0.0.1', name: 'Double', type: 'action',
      props: { n: { type: 'integer' } }, run() { return this.n * 2 } }`;
    const { data } = await api.expect<{ data: { id: string } }>(200, 'POST', '/v1/components', {
      body: { component_code: code },
    });
    const run = await ran([
      { namespace: 'a', uses: data.id, props: { n: '{{ item }}' }, for_each: '[1,2,3]', concurrency: 3 },
    ]);
    expect(stepOf(run, 'a').exports?.['$return_value']).toEqual([2, 4, 6]);
  });
});
