import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import { WorkflowInstallation, succeeded, until } from './testing/workflow-world.js';

const suspended: Outcome = { kind: 'succeeded', result: NO_RESULT, flow: { kind: 'suspend', ms: 60_000 } };

// docs/reference/workflows.md#trigger-timer
describe('a workflow with a timer', () => {
  it('begins no run of a timer while another of it goes on, also after a restart, and only of that timer', async () => {
    const installation = new WorkflowInstallation();
    const tick = (offset: number, id = 'ti_1', more: object = { alone: '1' }) =>
      installation.event(offset, { kind: 'timer', trigger: JSON.stringify({ type: 'timer', id, name: id }), ...more });
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
});
