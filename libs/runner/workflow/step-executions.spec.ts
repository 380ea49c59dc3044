import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { WorkflowInstallation, step, succeeded, until } from './testing/workflow-world.js';

describe('the executions of a workflow', () => {
  it('start a step again whose process another run ended, three times at most, as the same execution', async () => {
    const installation = new WorkflowInstallation([step('a')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    for (let times = 1; times <= 4; times++) {
      await until(() => calls.length === times);
      calls[times - 1]?.interrupt();
    }
    await until(() => installation.statusOf(0) === 'failed');
    expect(calls.map(({ execution: { number, run } }) => [number, run.attempt])).toEqual(Array(4).fill([1, 1]));
    expect(installation.errors()).toMatchObject([{ error: { code: 'ProcessExited', cellId: 'c_a' } }]);
  });

  it('44: end the code of a step whose run is cancelled, and of no other', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 2);
    await runner.accept([installation.event(2, { kind: 'cancel', run: runIdOf('inv_0') })]);
    await until(() => installation.statusOf(0) === 'cancelled');
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    calls[0]?.end(succeeded());
    calls[1]?.end(succeeded());
    await until(() => installation.statusOf(1) === 'succeeded');
    expect(installation.statusOf(0)).toBe('cancelled');
  });
});
