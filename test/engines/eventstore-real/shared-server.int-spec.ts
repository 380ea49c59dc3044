import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventStoreDBClient } from '@eventstore/db-client';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { AppendTooLarge, type EventStore } from '#libs/kernel/event-store.js';
import { START, type NewEvent } from '#libs/kernel/events.js';
import { eventStoreHome, startEventStore, type EventStoreServer } from '#test/engines/eventstore-server.js';
import { LargeData } from '#libs/engines/eventstoredb/index.js';
import { memoryBlobs } from '#libs/engines/eventstoredb/testing/memory-blobs.js';
import { event, ServerWorld, upTo } from './server-world.js';

const START_MS = 200_000;
/** Servers of the spec's own. SLUICE_TEST_EVENTSTORE_HOME names the program. */
const describeOwn = eventStoreHome() === undefined ? describe.skip : describe;

describeOwn('EventStoreDB with its limits, and shared with others', () => {
  let server: EventStoreServer;
  let world: ServerWorld;
  beforeAll(async () => {
    server = await startEventStore();
  }, START_MS);
  beforeEach(async () => {
    world = await ServerWorld.start(server);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await world.close();
  });
  afterAll(() => server.stop(), START_MS);

  describe('large events', () => {
    const sized = (bytes: number): NewEvent => event(1, 'x'.repeat(bytes));

    it('are refused by the log alone, with both numbers', async () => {
      const store = await world.open();
      const refused = store.append('count-1', [sized(1024 * 1024)], 'no_stream');
      await expect(refused).rejects.toBeInstanceOf(AppendTooLarge);
      await expect(refused).rejects.toMatchObject({ code: 'request.too_large', limit: 1024 * 1024 });
      await expect(refused).rejects.toThrow(/writes 1048\d\d\d bytes .* takes 1048576/);
    });

    it('go to blobs, and no other events do', async () => {
      const blobs = memoryBlobs();
      const store = new LargeData(await world.open(), blobs);
      await store.append('count-1', [sized(900_000)], 'no_stream');
      expect(blobs.texts.size).toBe(0);
      await store.append('count-2', [sized(700_000), sized(600_000), sized(10)], 'no_stream');
      expect([...blobs.texts.values()].map(({ length }) => length > 650_000)).toEqual([true]);
    });

    it(
      'fit a server that is set up to take less, once it has said so',
      async () => {
        const small = await startEventStore(['--max-append-size', '100000']);
        const there = await ServerWorld.start(small);
        try {
          const appends = jest.spyOn(EventStoreDBClient.prototype, 'appendToStream');
          const store = new LargeData(await there.open(), memoryBlobs());
          for (const stream of ['count-1', 'count-2']) {
            const before = appends.mock.calls.length;
            await store.append(stream, [sized(200_000), sized(50_000)], 'no_stream');
            expect(appends.mock.calls.length - before).toBe(stream === 'count-1' ? 2 : 1);
          }
          for await (const { data } of store.read('count-1', { limit: 1 })) expect(data).toEqual(sized(200_000).data);
        } finally {
          await there.close();
          await small.stop();
        }
      },
      START_MS,
    );

    it('are refused with both numbers when no blob can save them', async () => {
      const store = new LargeData(await world.open(), memoryBlobs());
      const many = upTo(6_000).map((n) => event(n));
      const refused = store.append('count-1', many, 'no_stream');
      await expect(refused).rejects.toMatchObject({ code: 'request.too_large', limit: 1024 * 1024 });
      expect(await store.readAll(START, 1)).toEqual([]);
    });

    it('are waited for by readers while the blobs cannot be read, and end them when they are missing', async () => {
      const blobs = memoryBlobs();
      let isAway = true;
      const get = (hash: string) => (isAway ? Promise.reject(new Error('no primary')) : blobs.get(hash));
      const store = new LargeData(await world.open(), { put: (text) => blobs.put(text), get });
      await store.append('count-1', [sized(2_000_000)], 'no_stream');
      await expect(store.readAll(START, 1)).rejects.toThrow('no primary');
      const { seen } = world.follow(store);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(seen).toEqual([]);
      isAway = false;
      await eventually('the event', () => seen.length === 1);
      blobs.texts.clear();
      await expect(world.follow(store).done).rejects.toThrow(
        /event 0 of stream count-1 cannot be read: its data, blob/,
      );
    });
  });

  describe('the end of the log', () => {
    /** Others append `count` events. */
    const others = async (store: EventStore, stream: string, count: number): Promise<void> => {
      for (let n = 0; n < count; n += 500) {
        const events = upTo(500).map((i) => event(n + i));
        await store.append(stream, events, n === 0 ? 'no_stream' : BigInt(n - 1));
      }
    };

    it('is found behind many events of others, which readers pass at the server', async () => {
      const [store, other] = [await world.open(), await world.open({ prefix: `${world.prefix}other` })];
      const { position } = await store.append('count-1', [event(1)], 'no_stream');
      const { batches } = world.follow(store);
      await eventually('the reader has caught up', () => batches.at(-1)?.caughtUp === true);
      await others(other, 'count-1', 6_000);
      const pages = jest.spyOn(EventStoreDBClient.prototype, 'readAll');
      expect(await store.lastPosition()).toBe(position);
      expect(await store.lastPosition()).toBe(position);
      // Two pages until it waits for the reader, and one more at most.
      const asked = pages.mock.calls.reduce((sum, [options]) => sum + Number(options?.maxCount ?? 0), 0);
      expect(asked).toBeGreaterThan(0);
      expect(asked).toBeLessThan(5_000);
    }, 60_000);

    it('is found by a process that starts, before its reader has caught up and after', async () => {
      const [first, other] = [await world.open(), await world.open({ prefix: `${world.prefix}other` })];
      const { position } = await first.append('count-1', [event(1)], 'no_stream');
      await others(other, 'count-1', 3_000);
      const store = await world.open();
      const { batches } = world.follow(store);
      expect(await store.lastPosition()).toBe(position);
      await eventually('the reader has caught up', () => batches.at(-1)?.caughtUp === true);
      const later = await first.append('count-1', [event(2)], 0n);
      expect(await store.lastPosition()).toBe(later.position);
    }, 60_000);
  });
});
