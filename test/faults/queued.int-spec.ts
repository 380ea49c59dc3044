import { describe, expect, it } from '@jest/globals';
import { queuedEmbedded } from './queued-embedded.js';
import { runQueuedRepeats } from './queued-repeats.js';

describe('thousands of invocations queued for one listener, and a router that sends all of them again after each kill', () => {
  it('run once each, and so does what follows from them', async () => {
    const options = { rounds: 2, emitters: 5, queued: 400, seed: 4, say: () => undefined };
    const { runs, failed, problems } = await runQueuedRepeats(queuedEmbedded(), options);
    expect(problems).toEqual([]);
    expect((runs[0] ?? 0) + failed).toBeGreaterThanOrEqual(2_000);
  }, 600_000);
});
