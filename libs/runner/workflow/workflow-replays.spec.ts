import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { type NamedSteps } from '#libs/workflow-runs/run-plan.js';
import { exportsText } from '#libs/workflow-runs/next-execution.js';
import { type ReplayRequest, replayStart } from '#libs/workflow-runs/replay-start.js';
import { PARTS, outcomeOf, originOf } from '#libs/workflow-runs/run-state.js';
import { replayRecord } from './replay-record.js';
import { WorkflowInstallation, failed, step, succeeded, until } from './testing/workflow-world.js';

const ab: NamedSteps = { steps: [step('a'), step('b')] };

/** The invocation of a replay of the run that began at `of`, at this offset. */
const replayOf = (
  installation: WorkflowInstallation,
  of: number,
  offset: number,
  over: Partial<ReplayRequest> = {},
) => {
  const request = {
    from: 'failed',
    startsWith: null,
    isTest: false,
    event: null,
    by: { userId: 'u_1', apiKeyId: null },
    ...over,
  };
  const begins = replayStart(ab, installation.run(of), request);
  if ('refused' in begins) throw new Error(begins.refused);
  const { replays, event } = replayRecord(begins);
  return installation.event(offset, { kind: 'manual', replays }, event);
};

/** An installation whose first run has failed in its second step. */
const withFailed = async (
  headers: Parameters<WorkflowInstallation['event']>[1] = {},
): Promise<WorkflowInstallation> => {
  const installation = new WorkflowInstallation([step('a'), step('b')]);
  const { runner } = await installation.process(({ step: { namespace } }) =>
    namespace === 'a' ? succeeded({ exports: { $return_value: '"ä\\"😀"' } }) : failed(),
  );
  await runner.accept([installation.event(0, headers)]);
  await until(() => installation.statusOf(0) === 'failed');
  return installation;
};

describe('a replay in the runner', () => {
  it('67: runs the failed step with the event and what the steps before it left', async () => {
    const installation = await withFailed();
    const { runner, calls } = await installation.process();
    await runner.accept([replayOf(installation, 0, 1)]);
    await until(() => calls.length === 1);
    const [first, second] = [runIdOf('inv_0'), runIdOf('inv_1')];
    expect(calls[0]?.execution).toMatchObject({ namespace: 'b', idempotencyKey: `${first}/b` });
    expect(calls[0]?.steps['a']).toBe('{"$return_value":"ä\\"😀"}');
    expect(JSON.parse(calls[0]?.steps['trigger'] ?? '')).toMatchObject({
      event: { n: 0 },
      context: { id: second, replay: true, source_type: 'HTTP', trace_id: first },
    });
    calls[0]?.end(succeeded());
    await until(() => installation.statusOf(1) === 'succeeded');
    const state = installation.run(1);
    expect(originOf(state)).toMatchObject({ replayOf: first, replayFrom: 'failed', replayedBy: { userId: 'u_1' } });
    expect(outcomeOf(state, 'a')).toMatchObject({ state: 'succeeded', reused: true });
    expect(calls).toHaveLength(1);
  });

  it('runs the items of a loop that did not succeed, under their keys, and keeps the others', async () => {
    const loop = { list: '[]', concurrency: 1 };
    const installation = new WorkflowInstallation([step('a'), step('b', { loop, onError: 'continue' })]);
    const listed = { kind: 'listed', list: '["x","y","z","ä"]', count: 4 } as const;
    const { runner } = await installation.process(({ step: { namespace }, item }) => {
      if (namespace === 'b' && !item) return listed;
      if (item?.index === 1) return failed('HostEnded');
      return succeeded({ exports: { $return_value: item?.text ?? '1' }, logs: [{ k: 'stdout', ts: 1, msg: 'said' }] });
    });
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'failed');
    const again = await installation.process(({ item }) =>
      item ? succeeded({ exports: { $return_value: `"again ${item.index}"` } }) : listed,
    );
    await again.runner.accept([replayOf(installation, 0, 1), replayOf(installation, 0, 2, { from: 'b' })]);
    await until(() => [1, 2].every((run) => installation.statusOf(run) === 'succeeded'));
    const ofRun = (offset: number) =>
      again.calls.filter(({ context, item }) => item && context['id'] === runIdOf(`inv_${offset}`));
    expect(ofRun(1).map(({ context }) => context['idempotency_key'])).toEqual(
      [1, 2, 3].map((index) => `${runIdOf('inv_0')}/b/item-${index}`),
    );
    expect(ofRun(2)).toHaveLength(4);
    const state = installation.run(1);
    expect(JSON.parse(exportsText(state, 'b') ?? '')).toMatchObject({
      $return_value: ['x', 'again 1', 'again 2', 'again 3'],
      $summary: '4 of 4 items',
    });
    expect(state.parts['item/b/0']).toContain('"logs":[]');
  });

  it('of a tick stays in the queue beside another replay and the next tick', async () => {
    const trigger = JSON.stringify({ type: 'timer', id: 'ti_1', name: 'ti_1' });
    const installation = await withFailed({ kind: 'timer', trigger });
    installation.deploy('d_2', [step('a'), step('b')], { concurrency: 1 });
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(1)]);
    await until(() => calls.length === 1);
    await runner.accept([2, 3].map((offset) => replayOf(installation, 0, offset)));
    await runner.accept([installation.event(4, { kind: 'timer', trigger })]);
    await until(() => installation.statusOf(4) === 'queued');
    expect([2, 3].map((offset) => installation.statusOf(offset))).toEqual(['queued', 'queued']);
  });

  it('runs with the version of its run when it is told so, and else with the deployed one', async () => {
    const installation = await withFailed();
    installation.deploy('d_2', [step('a'), step('b')]);
    const { runner } = await installation.process(() => succeeded());
    await runner.accept([
      replayOf(installation, 0, 1, { startsWith: 'd_1' }),
      replayOf(installation, 0, 2),
      replayOf(installation, 0, 3, { from: 'start', event: '"other"' }),
    ]);
    await until(() => installation.statusOf(3) === 'succeeded');
    expect([1, 2, 3].map((n) => installation.run(n).head.version?.version)).toEqual([1, 2, 2]);
    expect(installation.run(3).parts[PARTS.event]).toBe('"other"');
  });

  it('is one run when its invocation comes twice, also after the run has ended', async () => {
    const installation = await withFailed();
    const { runner, calls } = await installation.process();
    const { headers, record } = replayOf(installation, 0, 1);
    const again = (offset: number) => installation.event(offset, headers, record.value);
    await runner.accept([again(1), again(2)]);
    await until(() => calls.length === 1);
    calls[0]?.end(succeeded());
    await until(() => installation.statusOf(1) === 'succeeded');
    await runner.accept([again(3)]);
    await until(() => [1, 2, 3].every((offset) => installation.acked.includes(offset)));
    const later = await installation.process();
    await later.runner.accept([again(4)]);
    await until(() => installation.acked.includes(4));
    expect([calls.length, later.calls.length]).toEqual([1, 0]);
  });

  it('keeps what it reuses and its version while it waits for its turn, over a crash', async () => {
    const installation = await withFailed();
    installation.deploy('d_2', [step('a'), step('b')], { throttle: { limit: 0, interval: 1, unit: 'hour' } });
    const before = await installation.process();
    await before.runner.accept([replayOf(installation, 0, 1, { startsWith: 'd_1' })]);
    await until(() => installation.statusOf(1) === 'queued');
    installation.deploy('d_3', [step('a'), step('b')]);
    const { calls } = await installation.process();
    await until(() => calls.length === 1);
    expect(calls[0]?.execution.namespace).toBe('b');
    expect(installation.run(1).head.version?.deploymentId).toBe('d_1');
  });
});
