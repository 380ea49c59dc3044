import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient } from '#test/harness/api-client.js';
import { componentCode, emitterCode, relayCode } from '#test/harness/component-code.js';
import { attack, deployHostile, type HostileSources } from '#test/harness/hostile-sources.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';

/** Low, so that every hostile source exceeds it within seconds. That of a workspace is four times as much. */
const instance = useInstance({ env: { SLUICE_SOURCE_BACKLOG: '100' } });
const EVENTS = 150;
const AT_ONCE = 4;
let stranger: ApiClient;
let hanging: WebhookReceiver;
let hostile: HostileSources;

beforeAll(async () => {
  stranger = (await addWorkspace(instance, 'mallory')).api;
  hanging = await WebhookReceiver.start();
  hanging.behave(() => ({ until: new Promise(() => undefined) }));
  hostile = await deployHostile(stranger, hanging.url);
}, 120_000);

afterAll(async () => {
  await stranger.close();
  await hanging.close();
});

describe('sources that pile up work', () => {
  it("close their own doors, but not a neighbour's, and do not delay its events", async () => {
    const neighbour = await instance.deploy(relayCode());
    const webhookId = await instance.listen(neighbour.id);
    const attacking = attack(instance.server, hostile);
    try {
      // Control: the backlog exceeds its source's limit. It would also exceed a single limit for all.
      const refusals = await eventually(
        'refusals of the loop, of the burst and of the slow endpoint',
        () => {
          const { loop, burst, slow } = attacking.answers;
          const all = [loop, burst, slow].map((each) => [...each.refusals][0]);
          return all.every((text) => text !== undefined) ? all : undefined;
        },
        60_000,
      );
      [hostile.loop, hostile.burst, hostile.slow].forEach(({ id }, i) => {
        expect(JSON.parse(refusals[i] ?? '')).toMatchObject({
          code: 'overloaded',
          error: expect.stringMatching(
            new RegExp(`^source ${id} takes no more events .*(limit of one source is 100|above its share of \\d+)`),
          ),
        });
      });

      const statuses: number[] = [];
      const posting = async (lane: number): Promise<void> => {
        for (let n = lane; n < EVENTS; n += AT_ONCE) statuses.push((await instance.post(neighbour, { n })).status);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => posting(lane)));
      expect(new Set(statuses)).toEqual(new Set([200]));
      await instance.receiver.until(
        'every event of the neighbour',
        () => new Set(instance.arrived(webhookId).map((body) => (body as { n: number }).n)).size === EVENTS,
        60_000,
      );
    } finally {
      await attacking.stop();
    }
    const { loop, burst, slow, hung } = attacking.answers;
    for (const { statuses: seen } of [loop, burst, slow, hung]) {
      expect(Object.keys(seen).filter((status) => !['200', '503'].includes(status))).toEqual([]);
    }
    // Hanging deliveries delay no other work, not even their emitter's.
    expect([...hung.refusals]).toEqual([]);
    expect(Object.keys(hung.statuses)).toEqual(['200']);
  }, 180_000);

  it('close no door of another source of their workspace, also when they exceed its limit together', async () => {
    const stuckCode = (): string =>
      componentCode({ members: 'async run() { await new Promise((resolve) => setTimeout(resolve, 5_000)); },' });
    const neighbour = await instance.deploy(relayCode());
    const sources = await Promise.all(Array.from({ length: 6 }, () => instance.deploy(stuckCode())));
    const refused = sources.map(() => 0);
    const accepted = sources.map(() => 0);
    let going = true;
    const posting = sources.flatMap((source, i) =>
      Array.from({ length: 8 }, async () => {
        while (going) {
          const { status } = await instance.post(source, {});
          if (status === 200) accepted[i] = (accepted[i] ?? 0) + 1;
          else refused[i] = (refused[i] ?? 0) + 1;
        }
      }),
    );
    try {
      const statuses: number[] = [];
      await eventually(
        'closed doors of all that are stuck',
        async () => {
          statuses.push((await instance.post(neighbour, {})).status);
          return refused.every((count) => count > 8) && statuses.length >= 100 ? true : undefined;
        },
        60_000,
      );
      expect(new Set(statuses)).toEqual(new Set([200]));
      // Control: one limit for the workspace would have closed its door.
      expect(accepted.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(400);
    } finally {
      going = false;
      await Promise.all(posting);
    }
    // Their backlog would occupy processes in the next tests.
    await Promise.all(sources.map(({ id }) => instance.api.deleteSource(id)));
  }, 180_000);

  it('lose no accepted event in a chain that is slower at its end', async () => {
    const emitter = await instance.deploy(emitterCode());
    const listener = await instance.deploy(emitterCode(), {}, 'Slow end');
    await instance.api.subscribe(emitter.id, listener.id);
    const webhookId = await instance.listen(listener.id);
    const count = 1_000;
    const body = Array.from({ length: count }, (_, n) => [{ body: [[n]] }]);
    expect((await instance.post(emitter, body)).status).toBe(200);
    await instance.receiver.until(
      'every event of the chain',
      () => new Set(instance.arrived(webhookId)).size === count,
      60_000,
    );
  }, 90_000);
});

describe('a channel name with half a surrogate pair', () => {
  it('is delivered, and so are later events', async () => {
    const source = await instance.deploy(emitterCode());
    const name = 'half\ud800';
    expect(() => encodeURIComponent(name)).toThrow(URIError);
    const webhookId = await instance.listen(source.id);
    await instance.post(source, [
      ['odd', { name }],
      ['even', {}],
    ]);
    await instance.receiver.until('the event after it', () => instance.arrived(webhookId).includes('even'));
  });
});
