import { describe, expect, it } from '@jest/globals';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { NO_RESULT } from '#libs/workflow-runs/finish-step.js';
import { type Outcome } from '#libs/workflow-runs/run-inputs.js';
import { cancelRuns } from './cancel-runs.js';
import { WorkflowInstallation, until } from './testing/workflow-world.js';

const suspended: Outcome = { kind: 'succeeded', result: NO_RESULT, flow: { kind: 'suspend', ms: 60_000 } };
const BY = { userId: 'u_1', apiKeyId: 'key_1' };

// docs/reference/workflows.md#cancel-runs
describe('a workflow that is deactivated with its runs', () => {
  it('52: has every run cancelled that arrived before, and none that comes later', async () => {
    const installation = new WorkflowInstallation();
    const { runner, calls } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1)]);
    await until(() => calls.length === 2);
    calls[0]?.end(suspended);
    await until(() => installation.statusOf(0) === 'waiting');
    const request = { id: 'inv_off', kind: 'cancel_runs', by: JSON.stringify(BY) } as const;
    await runner.accept([installation.event(2, request), installation.event(3)]);
    await until(() => installation.acked.includes(2) && installation.acked.includes(3));
    const statuses = [0, 1, 3].map((offset) => installation.statusOf(offset));
    // The third arrived together with the request, and may be cancelled or not.
    expect(statuses.slice(0, 2)).toEqual(['cancelled', 'cancelled']);
    expect(installation.run(0).head).toMatchObject({ cancelReason: 'deactivated', cancelledBy: BY });
    calls[1]?.end(suspended);
    await runner.accept([installation.event(4)]);
    await until(() => installation.acked.includes(4));
    await runner.accept([installation.event(5, request)]);
    await until(() => installation.acked.includes(5));
    expect(installation.statusOf(4)).toBe('running');
    expect(installation.statusOf(1)).toBe('cancelled');
  });

  it('has only the selected ones cancelled, by a request to the API', async () => {
    const installation = new WorkflowInstallation();
    const { runner } = await installation.process();
    await runner.accept([installation.event(0), installation.event(1), installation.event(2)]);
    await until(() => [0, 1, 2].every((offset) => installation.statusOf(offset) === 'running'));
    const value = JSON.stringify([runIdOf('inv_1'), 'run_unknown']);
    const request = { id: 'inv_some', kind: 'cancel_runs', by: JSON.stringify(BY) } as const;
    await runner.accept([installation.event(3, request, value)]);
    await until(() => installation.acked.includes(3));
    expect([0, 1, 2].map((offset) => installation.statusOf(offset))).toEqual(['running', 'cancelled', 'running']);
    expect(installation.run(1).head).toMatchObject({ cancelReason: 'api', cancelledBy: BY });
  });

  it('goes on after a fault of the store, page by page', async () => {
    const heads = Array.from({ length: 600 }, (_, n) => ({
      run: `run_${String(n).padStart(3, '0')}`,
      version: 1,
      head: JSON.stringify({ endedAt: n % 2 === 0 ? null : 1 }),
    }));
    const cancelled: string[] = [];
    const faults: unknown[] = [];
    let failures = 1;
    const isDone = await cancelRuns({
      workflowId: 'p_1',
      journal: {
        runs: async (_workflow, after, limit) => {
          if (after !== '' && failures-- > 0) throw new Error('the disk is slow');
          return heads.filter(({ run }) => run > after).slice(0, limit);
        },
      },
      by: null,
      now: () => 1,
      decide: async (inputs) => void cancelled.push(...inputs.map(({ run }) => run)),
      onFault: (error) => faults.push(error),
      signal: new AbortController().signal,
    });
    expect(isDone).toBe(true);
    expect(faults).toHaveLength(1);
    expect(cancelled).toEqual(heads.filter((_, n) => n % 2 === 0).map(({ run }) => run));
  });
});
