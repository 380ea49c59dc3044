import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { START, type NewEvent } from '#libs/kernel/events.js';
import {
  eventStoreHome,
  startEventStoreCluster,
  type EventStoreCluster,
  type EventStoreNode,
} from '#test/engines/eventstore-server.js';
import { eventually } from '#test/harness/wait.js';
import { openEventStoreDb, type EventStoreDbEventStore } from '#libs/engines/eventstoredb/index.js';

const event = (n: number): NewEvent => ({
  id: randomUUID(),
  type: 'Counted',
  data: { n },
  metadata: {
    $correlationId: 'c1',
    $causationId: 'c0',
    commandId: `command-${n}`,
    workspaceId: 'o_1',
    schemaVersion: 1,
    actor: { userId: 'u_1', apiKeyId: null },
  },
});

(eventStoreHome() === undefined ? describe.skip : describe)(
  'three real nodes (SLUICE_TEST_EVENTSTORE_HOME names the program)',
  () => {
    let cluster: EventStoreCluster;
    let store: EventStoreDbEventStore;
    const stop = new AbortController();
    beforeAll(async () => {
      cluster = await startEventStoreCluster();
      const options = { url: cluster.url, prefix: 't', onWarning: () => undefined };
      for (let left = 20; ; left--) {
        try {
          store = await openEventStoreDb(options);
          return;
        } catch (error) {
          if (left === 0) throw error;
          await sleep(500);
        }
      }
    }, 300_000);
    afterAll(async () => {
      stop.abort();
      await store.close();
      await cluster.stop();
    }, 60_000);

    const killLeader = async (): Promise<EventStoreNode> => {
      let leader = await cluster.leader();
      for (; !leader; leader = await cluster.leader()) await sleep(100);
      await leader.kill9();
      return leader;
    };

    it('lose no append and refuse none while each leader in turn is killed', async () => {
      const seen: number[] = [];
      const reading = (async () => {
        for await (const { events } of store.subscribe(START, stop.signal)) {
          seen.push(...events.map(({ data }) => (data as { n: number }).n));
        }
      })();
      let next = 0;
      let isOver = false;
      const writers = [0, 1, 2, 3].map(async (writer) => {
        for (let revision = -1n; !isOver;) {
          const n = next++;
          const expected = revision < 0n ? 'no_stream' : revision;
          ({ revision } = await store.append(`count-${writer}`, [event(n)], expected));
          // The next command reads an append at once, whichever node leads now.
          for await (const { data } of store.read(`count-${writer}`, { direction: 'backwards', limit: 1 })) {
            expect(data).toEqual({ n });
          }
        }
      });
      const killing = async (): Promise<void> => {
        for (let round = 0; round < 3; round++) {
          const before = next;
          await eventually('some appends', () => (next > before + 20 ? true : undefined), 120_000);
          const killed = await killLeader();
          const during = next;
          await eventually('appends go on by another leader', () => (next > during + 20 ? true : undefined), 120_000);
          await killed.start();
        }
        isOver = true;
      };
      await Promise.all([killing(), ...writers]);
      await eventually('all events were read', () => (seen.length >= next ? true : undefined), 60_000);
      stop.abort();
      await reading;
      expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: next }, (_, n) => n));
      const all = await store.readAll(START, next + 1);
      expect(all.map(({ data }) => (data as { n: number }).n)).toEqual(seen);
      expect(await store.lastPosition()).toBe(all.at(-1)?.position);
    }, 600_000);
  },
);
