import { describe, expect, it } from '@jest/globals';
import { queuedRoles } from '#test/faults/queued-roles.js';
import { runQueuedRepeats } from '#test/faults/queued-repeats.js';
import { givenEngines } from '#test/harness/deployment.js';

describe('thousands of invocations queued for one listener, with routers and runners that die, on roles', () => {
  it('run once each, and so does what follows from them', async () => {
    const options = { rounds: 1, emitters: 5, queued: 400, seed: 4, say: () => undefined };
    const { runs, failed, problems } = await runQueuedRepeats(queuedRoles(givenEngines()), options);
    expect(problems).toEqual([]);
    expect((runs[0] ?? 0) + failed).toBeGreaterThanOrEqual(2_000);
  }, 600_000);
});
