import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HoldingReceiver, problemsOfSends, sendOverKill } from './sends-over-kill.js';
import { serverToKill } from './workflow-kill-targets.js';

// docs/adr/0072-messages-of-steps.md
describe('a server killed with -9 between the outcome of a step and its messages', () => {
  let receiver: HoldingReceiver;
  beforeAll(async () => {
    receiver = await HoldingReceiver.start();
  });
  afterAll(() => receiver.close());

  it('sends each of them after its restart, under the ids of the record, and writes the same object', async () => {
    const sent = await sendOverKill(serverToKill(receiver.env), receiver);
    expect(problemsOfSends(sent)).toEqual([]);
  }, 240_000);
});
