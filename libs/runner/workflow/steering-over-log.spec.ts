import { describe, expect, it } from '@jest/globals';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { steeringOverLog } from './steering-over-log.js';

// docs/reference/workflows.md#run-cancel
describe('a request to cancel a run', () => {
  it('ends when the workflow is deleted while the request is in its lane', async () => {
    const known = new Set(['p_1', 'p_2']);
    const listeners = new Set<(id: string) => void>();
    const changed = (id: string): void => listeners.forEach((listener) => listener(id));
    const steering = steeringOverLog({
      log: {
        publish: () => {
          setTimeout(() => {
            known.delete('p_2');
            changed('p_2');
            changed('p_1');
            known.delete('p_1');
            changed('p_1');
          }, 1);
          return Promise.resolve([0]);
        },
      },
      topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
      relay: { address: 'here', expect: () => new Promise(() => undefined), cancel: () => undefined },
      clock: { now: () => 1_000 },
      workflows: {
        find: (id) => (known.has(id) ? {} : undefined),
        onChange: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
    const by = { userId: 'u_1', apiKeyId: null };
    const request = { workflowId: 'p_1', workspaceId: 'o_1', runId: 'run_1', by, change: { kind: 'cancel' } as const };
    await expect(steering.steer(request)).rejects.toMatchObject({ code: 'run.not_found' });
    expect(listeners.size).toBe(0);
  });
});
