import { describe, expect, it } from '@jest/globals';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { type SubscriptionEvent } from '#libs/subscriptions/published.js';
import { type DueEntry } from '#libs/due/due-store.js';
import { ReplayReactor } from './replay.reactor.js';

const NOW = 1_700_000_000_000;

const world = (count: number) => {
  const entries = new Map<string, DueEntry>();
  const puts: number[] = [];
  const asked: unknown[] = [];
  const reactor = new ReplayReactor({
    due: {
      put: async (added) => {
        puts.push(added.length);
        for (const entry of added) entries.set(entry.id, entry);
      },
      removeOwner: async (owner) => {
        for (const [id, entry] of entries) if (entry.owner === owner) entries.delete(id);
      },
    },
    eventsIn: async function* (...range) {
      asked.push(range);
      for (let n = 0; n < count; n++) yield { eventId: `1-${n}`, emitId: `e${n}`, payload: `{"n":${n}}` };
    },
    topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
    clock: { now: () => NOW },
  });
  const handle = (event: SubscriptionEvent): Promise<void> =>
    reactor.handle(recorded('subscription-sub_1', event, { metadata: { workspaceId: 'o_1' } }));
  return { handle, entries, puts, asked, list: () => [...entries.values()] };
};

const started = (over: object = {}): SubscriptionEvent => ({
  type: 'SubscriptionReplayStarted',
  data: {
    replayId: 'rpl_1',
    emitterId: 'dc_a',
    listenerId: 'wh_1',
    eventName: 'x',
    startId: '1-0',
    endId: '1-9',
    rate: 10,
    startedAt: NOW,
    endsAt: NOW + 1_000,
    ...over,
  },
});

describe('a replay', () => {
  it('schedules deliveries to a webhook in order, spread by the rate, and marks them', async () => {
    const { handle, list, asked } = world(3);
    await handle(started());
    expect(asked).toEqual([['dc_a', 'x', '1-0', '1-9']]);
    expect(list().map(({ dueAt }) => dueAt - NOW)).toEqual([0, 100, 200]);
    expect(list()[1]).toMatchObject({
      owner: 'sub_1',
      record: {
        topic: 'deliveries.wh_1',
        value: '{"n":1}',
        headers: {
          webhook: 'wh_1',
          workspace: 'o_1',
          emit: 'e1',
          event: '1-1',
          channel: 'x',
          attempt: '1',
          replay: 'rpl_1',
        },
      },
    });
  });

  it('schedules invocations of a source that listens, under ids of their own', async () => {
    const [one, two] = [world(2), world(2)];
    await one.handle(started({ listenerId: 'dc_b' }));
    await two.handle(started({ listenerId: 'dc_b', replayId: 'rpl_2' }));
    expect(one.list()[0]?.record).toMatchObject({
      topic: 'invocations.dc_b',
      headers: { kind: 'emit', source: 'dc_b', emitter: 'dc_a', emit: 'e0', replay: 'rpl_1' },
    });
    const ids = [...one.list(), ...two.list()].map(({ record }) => record.headers['id']);
    expect(new Set(ids).size).toBe(4);
  });

  it('handled twice, as after a crash, schedules the same records once', async () => {
    const { handle, list } = world(3);
    await handle(started());
    const first = list();
    await handle(started());
    expect(list()).toEqual(first);
  });

  it('leaves out what the filter of the subscription does not pass', async () => {
    const { handle, list } = world(5);
    await handle(started({ filter: { n: { gte: 3 } } }));
    expect(list().map(({ record, dueAt }) => [record.value, dueAt - NOW])).toEqual([
      ['{"n":3}', 0],
      ['{"n":4}', 100],
    ]);
  });

  it('is stored in parts', async () => {
    const { handle, puts } = world(250);
    await handle(started());
    expect(puts).toEqual([100, 100, 50]);
  });

  it.each<SubscriptionEvent>([
    { type: 'SubscriptionReplayCancelled', data: { replayId: 'rpl_1', cancelledAt: NOW } },
    { type: 'SubscriptionDeleted', data: { reason: 'requested', deletedAt: NOW } },
  ])('ends with $type', async (event) => {
    const { handle, list } = world(3);
    await handle(started());
    await handle(event);
    expect(list()).toEqual([]);
  });
});
