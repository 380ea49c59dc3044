import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { PARTS } from '#libs/workflow-runs/run-state.js';
import { WorkflowInstallation, step, succeeded, until } from './testing/workflow-world.js';

const ONE = runIdOf('inv_0');

/** Lets the next commits wait, as in a process that dies meanwhile. Returns once `waiting` of them do. */
const holdAt = async (installation: WorkflowInstallation, waiting: number): Promise<void> => {
  installation.journal.held ??= new Promise(() => undefined);
  await until(() => installation.journal.waiting === waiting);
};

/** The process is gone: whatever it had in flight is lost. */
const crash = (installation: WorkflowInstallation): void => {
  installation.journal.held = undefined;
  installation.journal.waiting = 0;
};

describe('a workflow whose process dies', () => {
  it('before the run exists gets the event again, and makes one run of it', async () => {
    const installation = new WorkflowInstallation();
    const before = await installation.process();
    const held = holdAt(installation, 1);
    await before.runner.accept([installation.event(0)]);
    await held;
    expect([installation.acked, await installation.kept()]).toEqual([[], []]);
    crash(installation);
    const { runner } = await installation.process(() => succeeded());
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(before.calls).toEqual([]);
  });

  it('between the run and its own progress finds the run when the event comes again', async () => {
    const installation = new WorkflowInstallation();
    const before = await installation.process();
    const { journal } = installation;
    const commit = journal.commit.bind(journal);
    journal.commit = (each) => (each.run === undefined ? new Promise(() => undefined) : commit(each));
    await before.runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'running');
    expect([installation.acked, before.calls]).toEqual([[], []]);
    journal.commit = commit;

    const { runner, calls } = await installation.process();
    await until(() => calls.length === 1);
    await runner.accept([installation.event(0)]);
    await until(() => installation.acked.length === 1);
    calls[0]?.end(succeeded());
    await until(() => installation.statusOf(0) === 'succeeded');
    expect(calls).toHaveLength(1);
    expect(installation.changesOf(0).map(({ version }) => version)).toEqual([1, 2]);
  });

  it('while a step runs executes it again, as the same execution, and none of those before', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b'), step('c')]);
    const before = await installation.process();
    await before.runner.accept([installation.event(0)]);
    await until(() => before.calls.length === 1);
    before.calls[0]?.end(succeeded());
    await until(() => before.calls.length === 2);

    installation.now += 20_000;
    const { calls } = await installation.process();
    await until(() => calls.length === 1);
    expect(calls[0]?.execution).toMatchObject({ namespace: 'b', number: 2, idempotencyKey: `${ONE}/b` });
    expect(calls[0]?.execution.idempotencyKey).toBe(before.calls[1]?.execution.idempotencyKey);
    expect(calls[0]?.execution.run).toMatchObject({ runs: 1, attempt: 1 });
    // Messages with its URLs may have left.
    expect(calls[0]?.urls).toEqual(before.calls[1]?.urls);
    expect(calls[0]?.urls?.resume_url).toBe(`https://s/r/${ONE}.2/resume`);
    // It has a stretch of its own.
    expect(calls[0]?.execution.deadline).toBe(installation.now + 30_000);
    calls[0]?.end(succeeded());
    await until(() => calls.length === 2);
    calls[1]?.end(succeeded());
    await until(() => installation.statusOf(0) === 'succeeded');
    // The former owner hears its step end too, and cannot write.
    before.calls[1]?.end(succeeded({ exports: { late: '1' } }));
    await until(() => before.conflicts.length === 1);
    expect(installation.run(0).parts[PARTS.exports('b')]).toBe('{}');
  });

  it('before an outcome is durable executes the step again, and after it never', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const before = await installation.process();
    await before.runner.accept([installation.event(0)]);
    await until(() => before.calls.length === 1);
    const held = holdAt(installation, 1);
    before.calls[0]?.end(succeeded());
    await held;
    crash(installation);
    const second = await installation.process();
    await until(() => second.calls.length === 1);
    expect(second.calls[0]?.execution).toMatchObject({ namespace: 'a', number: 1 });
    second.calls[0]?.end(succeeded());
    await until(() => second.calls.length === 2);
    const third = await installation.process();
    await until(() => third.calls.length === 1);
    expect(third.calls[0]?.execution).toMatchObject({ namespace: 'b', number: 2 });
  });

  it('between the alarm and the wait ignores that alarm, and waits until the later one', async () => {
    const delays = { ...succeeded(), flow: { kind: 'delay', ms: 100 } } as never;
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const before = await installation.process();
    await before.runner.accept([installation.event(0)]);
    await until(() => before.calls.length === 1);
    const held = holdAt(installation, 1);
    before.calls[0]?.end(delays);
    await held;
    expect(await installation.due.nextDueAt()).toBe(installation.now + 100);
    crash(installation);

    installation.now += 50;
    const { runner, calls } = await installation.process();
    await until(() => calls.length === 1);
    calls[0]?.end(delays);
    await until(() => installation.statusOf(0) === 'waiting');
    installation.now += 50;
    await runner.accept(await installation.alarms(1));
    await until(() => installation.acked.includes(1));
    expect(installation.statusOf(0)).toBe('waiting');
    installation.now += 50;
    await runner.accept((await installation.alarms(2)).slice(-1));
    await until(() => calls.length === 2);
    expect(calls[1]?.execution.namespace).toBe('b');
  });

  it('after the end of a run, before it was dropped, drops it and tells nobody again', async () => {
    const installation = new WorkflowInstallation();
    const { journal } = installation;
    journal.dropRun = async () => undefined;
    const before = await installation.process(
      () => ({ ...succeeded(), kind: 'failed', error: { name: 'E', message: '', stack: '', code: 'E' } }) as never,
    );
    await before.runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'failed');
    expect(await installation.kept()).toEqual([ONE]);
    const dropped: string[] = [];
    journal.dropRun = async ({ run }) => void dropped.push(run ?? '');
    const { calls } = await installation.process();
    await until(() => dropped.length === 1);
    expect([dropped, calls, installation.errors().length]).toEqual([[ONE], [], 1]);
  });

  it('with runs in its queue starts them in their order, and with no more at once', async () => {
    const installation = new WorkflowInstallation([step('a')], { concurrency: 1 });
    const before = await installation.process();
    await before.runner.accept([0, 1, 2].map((offset) => installation.event(offset)));
    await until(() => installation.statusOf(2) === 'queued');
    const { calls } = await installation.process();
    for (const n of [0, 1, 2]) {
      await until(() => calls.length === n + 1);
      expect(calls[n]?.context['id']).toBe(runIdOf(`inv_${n}`));
      calls[n]?.end(succeeded());
    }
    await until(() => installation.statusOf(2) === 'succeeded');
  });

  it('between a place of the throttle and the start counts one start too many, and never one too few', async () => {
    const throttle = { limit: 2, interval: 60, unit: 'second' } as const;
    const installation = new WorkflowInstallation([step('a')], { throttle });
    const before = await installation.process();
    const { journal } = installation;
    const commit = journal.commit.bind(journal);
    journal.commit = (each) =>
      each.run !== undefined && each.expectedVersion > 0 ? new Promise(() => undefined) : commit(each);
    await before.runner.accept([0, 1, 2].map((offset) => installation.event(offset)));
    await until(() => installation.acked.length === 3);
    journal.commit = commit;
    const { calls } = await installation.process();
    installation.now += 59_999;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([calls.length, before.calls.length]).toEqual([0, 0]);
    installation.now += 1;
    await until(() => calls.length === 2);
    expect(installation.statusOf(2)).toBe('queued');
  });
});
