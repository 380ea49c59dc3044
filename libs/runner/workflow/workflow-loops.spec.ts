import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import { stepRecords } from '#libs/workflow-runs/run-record.js';
import { PARTS } from '#libs/workflow-runs/run-state.js';
import { readStepDb } from './step-dbs.js';
import { type StepRequest } from './workflow-ports.js';
import { WorkflowInstallation, failed, step, succeeded, until } from './testing/workflow-world.js';

const listed = (items: readonly unknown[]): Outcome => ({
  kind: 'listed',
  list: JSON.stringify(items),
  count: items.length,
});
const looping = (concurrency: number, more: Parameters<typeof step>[1] = {}) =>
  step('a', { loop: { list: '[1, 2, 3]', concurrency }, ...more });
const indexOf = ({ item }: StepRequest): number | undefined => item?.index;
const returned = (value: unknown): Outcome => succeeded({ exports: { $return_value: JSON.stringify(value) } });
/** The outcome of `a` as a later step gets it. */
const membersOf = (request: StepRequest | undefined): unknown => JSON.parse(request?.steps['a'] ?? 'null');

describe('a workflow with a loop', () => {
  it('runs the step once for each item, one after the other, and hands on the results in order', async () => {
    const installation = new WorkflowInstallation([step('z'), looping(1), step('b')]);
    const { runner, calls } = await installation.process(({ step: { namespace }, item }) => {
      if (namespace !== 'a') return returned('of z');
      return item ? returned(Number(item.text) * 2) : listed([1, 2, 3]);
    });
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(calls.map(({ step: { namespace }, item }) => [namespace, item?.index, item?.text])).toEqual([
      ['z', undefined, undefined],
      ['a', undefined, undefined],
      ['a', 0, '1'],
      ['a', 1, '2'],
      ['a', 2, '3'],
      ['b', undefined, undefined],
    ]);
    expect(calls[3]?.steps['z']).toBe('{"$return_value":"of z"}');
    expect(calls[3]?.context).toMatchObject({ idempotency_key: `${runIdOf('inv_0')}/a/item-1` });
    expect(calls[3]?.urls).toBeNull();
    // They may have 6 MB.
    expect(calls[3]?.steps).toBe(calls[2]?.steps);
    expect(membersOf(calls[5])).toMatchObject({ $return_value: [2, 4, 6], $summary: '3 of 3 items' });
  });

  it('runs as many items at once as its concurrency, and ends all of them with their run', async () => {
    const installation = new WorkflowInstallation([looping(2)]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end(listed([1, 2, 3, 4]));
    await until(() => calls.length === 3);
    calls[2]?.end(succeeded());
    await until(() => calls.length === 4);
    expect(calls.map(indexOf)).toEqual([undefined, 0, 1, 2]);
    await runner.accept([installation.event(1, { kind: 'cancel', run: runIdOf('inv_0') })]);
    await until(() => installation.statusOf(0) === 'cancelled');
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, true, false, true]);
  });

  it('keeps what two items leave whose outcomes share a commit', async () => {
    const db = { kind: 'db', prop: 'db' } as const;
    const definition = { ...step('a').definition, props: [db] };
    const installation = new WorkflowInstallation([looping(3, { definition }), step('b')]);
    if (installation.workflow) installation.others.set('p_2', { ...installation.workflow, id: 'p_2' });
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end(listed([1, 2, 3]));
    await until(() => calls.length === 4);
    const sent = succeeded({ sends: [{ kind: 'emit', bytes: 2 }] });
    for (const at of [1, 2, 3])
      calls[at]?.end(
        at === 3 ? failed() : sent,
        at === 3 ? [] : [{ kind: 'emit', event: `{"n":${at}}` }],
        [{ workflowId: 'p_2', index: 0, event: String(at) }],
        at === 2 ? undefined : { [`k${at}`]: String(at) },
      );
    await until(() => installation.statusOf(0) === 'failed');
    expect(installation.changesOf(0)).toHaveLength(3);
    const { records } = installation.journal;
    const emits = records.filter(({ topic, headers }) => topic === 'emits.p_1' && headers['channel'] === '');
    expect(emits.map(({ value }) => value)).toEqual(['{"n":1}', '{"n":2}']);
    expect(new Set(emits.map(({ headers }) => headers['emit'])).size).toBe(2);
    const starts = records.filter(({ key }) => key === 'p_2');
    expect(starts.map(({ value }) => value)).toEqual(['1', '2']);
    expect(new Set(starts.map(({ headers }) => headers['id'])).size).toBe(2);
    expect(await readStepDb(installation.journal, 'p_1', 'c_a')).toEqual({ k1: '1' });
  });

  it('names each message of an item by a place of its own', async () => {
    const http = { kind: 'http', method: 'GET', url: 'https://a.b', headers: {}, body: null, retry: false } as const;
    const installation = new WorkflowInstallation([looping(2)]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end(listed([1, 2]));
    await until(() => calls.length === 3);
    const sent = succeeded({ sends: [http, http].map(({ kind }) => ({ kind, bytes: 1 })) });
    for (const at of [1, 2]) calls[at]?.end(sent, [http, http]);
    await until(() => installation.statusOf(0) === 'succeeded');
    const headers = installation.journal.records
      .filter(({ topic }) => topic === 'messages.p_1')
      .map((each) => each.headers);
    expect(headers.map(({ execution, index }) => [execution, index])).toEqual([
      ['2', '0'],
      ['2', '1'],
      ['3', '100'],
      ['3', '101'],
    ]);
    const [record] = stepRecords({ steps: [step('a')] }, installation.run(0));
    expect(record?.sends.map(({ id }) => id)).toEqual(headers.map(({ id }) => id));
  });

  it('tells of the first item that fails, and of the run', async () => {
    const settings = { autoRetry: { notifyFirstError: true, alsoOn: [] } };
    const installation = new WorkflowInstallation([looping(2)], settings);
    const { runner } = await installation.process(({ item }) => {
      if (!item) return listed([1, 2]);
      return failed(item.index === 0 ? 'E_FIRST' : 'ConfigurationError');
    });
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'failed');
    expect(installation.errors().map(({ error: { code, cellId } }) => [code, cellId])).toEqual([
      ['E_FIRST', 'c_a'],
      ['E_FIRST', 'c_a'],
    ]);
  });

  it('tries an item again while others go on, and waits only when none executes', async () => {
    const retry = { maxRetries: 1, delaySeconds: 10, backoff: 'fixed', alsoOn: [] } as const;
    const installation = new WorkflowInstallation([looping(2, { retry })]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end(listed([1, 2]));
    await until(() => calls.length === 3);
    calls[1]?.end(failed());
    await until(() => installation.changesOf(0).length === 3);
    expect(installation.statusOf(0)).toBe('running');
    calls[2]?.end(returned(2));
    await until(() => installation.statusOf(0) === 'waiting');
    installation.now += 10_000;
    await runner.accept(await installation.alarms(1));
    await until(() => calls.length === 4);
    expect(calls[3]?.context).toMatchObject({
      idempotency_key: `${runIdOf('inv_0')}/a/item-0`,
      run: { runs: 1, attempt: 2 },
    });
    calls[3]?.end(returned(1));
    await until(() => installation.statusOf(0) === 'succeeded');
  });

  it('repeats after a crash the items that executed, and none whose outcome is durable', async () => {
    const installation = new WorkflowInstallation([looping(2)]);
    const before = await installation.process();
    await before.runner.accept([installation.event(0)]);
    await until(() => before.calls.length === 1);
    before.calls[0]?.end(listed([1, 2, 3, 4]));
    await until(() => before.calls.length === 3);
    before.calls[1]?.end(returned(1));
    await until(() => before.calls.length === 4);
    installation.now += 20_000;
    const { calls } = await installation.process(({ item }) => returned(Number(item?.text)));
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(calls.map(indexOf)).toEqual([1, 2, 3]);
    expect(calls[0]?.execution).toMatchObject({ number: 3, deadline: installation.now + 30_000 });
    expect(calls[0]?.item).toEqual({ text: '2', index: 1 });
    expect(calls[0]?.context['idempotency_key']).toBe(before.calls[2]?.context['idempotency_key']);
    expect(installation.run(0).parts[PARTS.exports('a')]).toBe('{"$summary":"4 of 4 items"}');
  });
});
