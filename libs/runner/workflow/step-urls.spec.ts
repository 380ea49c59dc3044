import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { WorkflowInstallation, failed, step, succeeded, until } from './testing/workflow-world.js';

const ONE = runIdOf('inv_0');

describe('the URLs of a step', () => {
  it('belong to its execution', async () => {
    const installation = new WorkflowInstallation([step('a'), step('b')]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end(succeeded());
    await until(() => calls.length === 2);
    expect(calls.map(({ urls }) => urls?.cancel_url)).toEqual([
      `https://s/r/${ONE}.1/cancel`,
      `https://s/r/${ONE}.2/cancel`,
    ]);
  });

  it('are in $attempt of a retry, as those of the attempt before', async () => {
    const retry = { maxRetries: 1, delaySeconds: 1, backoff: 'fixed', alsoOn: [] } as const;
    const installation = new WorkflowInstallation([step('a'), step('b', { retry })]);
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0)]);
    await until(() => calls.length === 1);
    calls[0]?.end(succeeded());
    await until(() => calls.length === 2);
    calls[1]?.end(failed());
    await until(() => installation.statusOf(0) === 'waiting');
    installation.now += 1_000;
    await runner.accept(await installation.alarms(1));
    await until(() => calls.length === 3);
    expect(JSON.parse(calls[2]?.steps['b'] ?? '')).toMatchObject({
      $attempt: {
        error: { code: 'E_X' },
        cancel_url: `https://s/r/${ONE}.2/cancel`,
        rerun_url: `https://s/r/${ONE}.2/resume`,
      },
    });
    expect(calls[2]?.urls?.resume_url).toBe(`https://s/r/${ONE}.3/resume`);
  });

  it('are missing in a test, whose waits do not pause', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0, { test: '1' })]);
    await until(() => calls.length === 1);
    expect(calls[0]?.urls).toBeNull();
  });
});
