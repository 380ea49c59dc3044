import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { type Instance, useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

/**
 * Limits on the backlog of a webhook with a dead endpoint. One process, because the roles leave the disk to their
 * engines.
 */
describe('a webhook whose endpoint is dead', () => {
  const limited = useStandalone({ env: { SLUICE_SOURCE_UNREAD_MB: '1', SLUICE_EMITS_RETENTION_MB: '1' } });
  const control = useStandalone({ env: { SLUICE_EMITS_RETENTION_MB: '1' } });
  const LARGE = 'x'.repeat(60_000);
  /** Three times the number of events that may wait for the webhook and as emits of its emitter. */
  const POSTS = 100;

  const deadWebhook = async (instance: Instance): Promise<{ source: Source; revive: () => void }> => {
    const source = await instance.deploy(relayCode());
    const dead = await instance.listen(source.id);
    let isDead = true;
    instance.receiver.behave((_, { headers }) => ({
      status: isDead && headers['x-pd-webhook-id'] === dead ? 503 : 200,
    }));
    return { source, revive: () => (isDead = false) };
  };

  /** Posts until all are accepted, or refused because of unrouted emits. Returns the number of accepted ones. */
  const flood = async (instance: Instance, source: Source): Promise<number> => {
    for (let n = 0; n < POSTS;) {
      const answer = await instance.post(source, { n, pad: LARGE });
      if (answer.status === 200) n++;
      else {
        expect([answer.status, jsonOf(answer)]).toEqual([429, expect.objectContaining({ code: 'unread_limit' })]);
        if (answer.text.includes('events that this source emitted')) return n;
        // The source is behind with its runs, which passes.
        await pause(20);
      }
    }
    return POSTS;
  };

  it('closes only the door of its emitter, until it is alive again', async () => {
    const { source, revive } = await deadWebhook(limited);
    const neighbour = await limited.deploy(relayCode());
    const webhookId = await limited.listen(neighbour.id);
    const accepted = await flood(limited, source);
    // 1 MB at the webhook, 1 MB of emits, and the events in flight.
    expect(accepted).toBeGreaterThan(15);
    expect(accepted).toBeLessThan(POSTS);

    expect((await limited.post(neighbour, { n: 1 })).status).toBe(200);
    await eventually('the event of the neighbour', () => limited.arrived(webhookId)[0]);

    revive();
    const again = await eventually(
      'room',
      async () => {
        const { status } = await limited.post(source, { n: -1 });
        return status === 200 ? status : undefined;
      },
      60_000,
    );
    expect(again).toBe(200);
  }, 120_000);

  it('(control) fills the disk under an unreachable limit', async () => {
    const { source } = await deadWebhook(control);
    expect(await flood(control, source)).toBe(POSTS);
  }, 120_000);
});
