import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { PARTS } from '#libs/workflow-runs/run-state.js';
import { WorkflowInstallation, step, succeeded, until } from './testing/workflow-world.js';

describe('runs of one workflow', () => {
  it('start in the order of their events, no more at once than may', async () => {
    const installation = new WorkflowInstallation([step('a')], { concurrency: 1 });
    const { runner, calls } = await installation.process();
    await runner.accept(Array.from({ length: 10 }, (_, offset) => installation.event(offset)));
    for (let n = 1; n <= 10; n++) {
      await until(() => calls.length === n);
      expect(
        Array.from({ length: 10 }, (_, offset) => installation.statusOf(offset)).filter((s) => s === 'running'),
      ).toHaveLength(1);
      calls[n - 1]?.end(succeeded());
    }
    await until(() => installation.statusOf(9) === 'succeeded');
    expect(calls.map(({ context }) => context['id'])).toEqual(
      Array.from({ length: 10 }, (_, n) => runIdOf(`inv_${n}`)),
    );
  });

  it('are refused beyond the queue, and keep their events', async () => {
    const installation = new WorkflowInstallation([step('a')], { concurrency: 1, queueSize: 1 });
    const { runner } = await installation.process();
    await runner.accept([0, 1, 2].map((offset) => installation.event(offset)));
    await until(() => installation.statusOf(2) === 'failed');
    expect([0, 1].map((offset) => installation.statusOf(offset))).toEqual(['running', 'queued']);
    expect(installation.errors()).toMatchObject([{ error: { code: 'EventQueueFull', cellId: null } }]);
    expect(installation.run(2).parts[PARTS.event]).toBe('{"n":2}');
  });

  it('start when the throttle lets them, whose places are stored before the starts', async () => {
    const throttle = { limit: 2, interval: 60, unit: 'second' } as const;
    const installation = new WorkflowInstallation([step('a')], { throttle });
    const { runner, calls } = await installation.process(() => succeeded());
    await runner.accept([0, 1, 2].map((offset) => installation.event(offset)));
    await until(() => installation.statusOf(1) === 'succeeded');
    const names = installation.journal.commits.map(({ run, parts }) =>
      run === undefined ? Object.keys(parts).join() : 'run',
    );
    expect(names.indexOf('throttle')).toBe(3);
    expect(installation.changesOf(0).map(({ head }) => head.status)).toEqual(['queued', 'running', 'succeeded']);
    expect([calls.length, installation.statusOf(2)]).toEqual([2, 'queued']);
    installation.now += 60_000;
    await until(() => installation.statusOf(2) === 'succeeded');
  });

  it('start when the settings that held them back have changed', async () => {
    const throttle = { limit: 0, interval: 1, unit: 'second' } as const;
    const installation = new WorkflowInstallation([step('a')], { throttle });
    const { runner } = await installation.process(() => succeeded());
    await runner.accept([installation.event(0)]);
    await until(() => installation.statusOf(0) === 'queued');
    installation.deploy('d_2', [step('a')]);
    await until(() => installation.statusOf(0) === 'succeeded');
  });
});
