import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import { WorkflowInstallation, step, succeeded, until } from './testing/workflow-world.js';

const suspended: Outcome = { kind: 'succeeded', result: NO_RESULT, flow: { kind: 'suspend', ms: 60_000 } };

const tickOf = (installation: WorkflowInstallation, offset: number, id: string, more: object = {}) =>
  installation.event(offset, { kind: 'timer', trigger: JSON.stringify({ type: 'timer', id, name: id }), ...more });

// docs/reference/workflows.md#trigger-timer
describe('a workflow with a timer', () => {
  it('begins no run of a timer while another of it goes on, also after a restart, and only of that timer', async () => {
    const installation = new WorkflowInstallation();
    const tick = (offset: number, id = 'ti_1', more: object = { alone: '1' }) => tickOf(installation, offset, id, more);
    const first = await installation.process();
    await first.runner.accept([tick(0), tick(1), tick(2, 'ti_2'), tick(3, 'ti_1', {})]);
    await until(() => first.calls.length === 3);
    expect(first.calls.map(({ context }) => context['source_type'])).toEqual(['TIMER', 'TIMER', 'TIMER']);
    first.calls[0]?.end(suspended);
    await until(() => installation.statusOf(0) === 'waiting');
    await first.runner.close(1);

    const second = await installation.process(() => succeeded());
    await second.runner.accept([tick(4)]);
    await until(() => installation.acked.includes(4));
    await second.runner.accept([installation.event(5, { kind: 'cancel', run: runIdOf('inv_0') })]);
    await until(() => installation.statusOf(0) === 'cancelled');
    await second.runner.accept([tick(6)]);
    await until(() => installation.statusOf(6) === 'succeeded');
    expect([1, 4].map((offset) => installation.changesOf(offset).length)).toEqual([0, 0]);
  });

  it('keeps the latest of the ticks of one timer in its queue, also after a restart, and each tick of another', async () => {
    const installation = new WorkflowInstallation([step('a')], { concurrency: 1, queueSize: 2 });
    const first = await installation.process();
    await first.runner.accept([tickOf(installation, 0, 'ti_1')]);
    await until(() => first.calls.length === 1);
    await first.runner.accept([1, 2].map((offset) => tickOf(installation, offset, 'ti_1')));
    await first.runner.accept([tickOf(installation, 3, 'ti_2')]);
    await until(() => installation.statusOf(3) === 'queued');
    await first.runner.close(1);

    const second = await installation.process();
    await second.runner.accept([tickOf(installation, 4, 'ti_1')]);
    await until(() => installation.statusOf(4) === 'queued');
    expect([0, 1, 2, 3].map((offset) => installation.statusOf(offset))).toEqual([
      'running',
      'cancelled',
      'cancelled',
      'queued',
    ]);
    expect(installation.changesOf(2).at(-1)?.head).toMatchObject({ cancelReason: 'superseded', cancelledBy: null });
  });

  it('starts nothing for ticks of an inactive workflow, and keeps the one in its queue', async () => {
    const installation = new WorkflowInstallation([step('a')], { concurrency: 1 });
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    await runner.accept([tickOf(installation, 1, 'ti_1')]);
    await until(() => installation.statusOf(1) === 'queued');
    if (installation.workflow) installation.workflow = { ...installation.workflow, active: false };
    await runner.accept([tickOf(installation, 2, 'ti_1')]);
    await until(() => installation.acked.includes(2));
    expect([installation.statusOf(1), installation.changesOf(2).length]).toEqual(['queued', 0]);
  });
});
