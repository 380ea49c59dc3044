import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { pause } from '#libs/async/pause.js';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { START } from '#libs/kernel/events.js';
import { eventStoreHome, startEventStore, type EventStoreServer } from '#test/engines/eventstore-server.js';
import {
  openEventStoreDb,
  type EventStoreDbEventStore,
  type EventStoreDbOptions,
} from '#libs/engines/eventstoredb/index.js';
import { event, fill, ServerWorld, upTo } from './server-world.js';

const START_MS = 200_000;

/** A server of the spec's own, because it is killed. SLUICE_TEST_EVENTSTORE_HOME names the program. */
(eventStoreHome() === undefined ? describe.skip : describe)('EventStoreDB adapter', () => {
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

  const open = (options?: Partial<EventStoreDbOptions>): Promise<EventStoreDbEventStore> => world.open(options);

  describe('subscription', () => {
    it(
      'loses and repeats nothing when the server is cut off and restarted in the middle',
      async () => {
        const store = await open();
        const { seen, batches, done } = world.follow(store);
        await fill(store, 'count-1', 40);
        await eventually('the first events', () => seen.length > 0);
        const goOn = fill(store, 'count-1', 200, 40);
        await world.cut();
        await eventually('events after the cut', () => seen.length > 60);
        await goOn;
        await server.kill9();
        await server.start();
        await eventually('all events', () => seen.length >= 240);
        await fill(store, 'count-1', 10, 240);
        await eventually('live events', () => seen.length >= 250);
        world.stop.abort();
        await done;
        expect(seen).toEqual(upTo(250));
        expect(batches.at(-1)?.position).toBe(await store.lastPosition());
      },
      START_MS,
    );

    it('reports each outage once, with the server, the reason and the number of outages', async () => {
      const store = await open();
      const { seen, done } = world.follow(store);
      const { warnings } = world;
      await fill(store, 'count-1', 1);
      await eventually('the first event', () => seen.length === 1);
      await world.relay.cut('refused');
      await eventually('a warning', () => warnings.length > 0);
      // Several attempts fail before the server is back.
      await expect(store.ping()).rejects.toThrow();
      await world.relay.restore();
      await fill(store, 'count-1', 1, 1);
      await eventually('the second event', () => seen.length === 2);
      expect(warnings).toHaveLength(1);
      await world.cut();
      await eventually('a second warning', () => warnings.length === 2);
      world.stop.abort();
      await done;
      const [first, second] = warnings;
      expect(first?.text).toContain(world.address);
      expect(first?.fields).toMatchObject({ outages: 1, err: expect.any(Error), after: expect.any(String) });
      expect(second?.fields).toMatchObject({ outages: 2 });
    }, 60_000);

    it('does not let the server send more than a slow consumer reads', async () => {
      const store = await open();
      const total = 4_000;
      const text = 'x'.repeat(2_000);
      for (let n = 0; n < total; n += 200) {
        const events = upTo(200).map((i) => event(n + i, text));
        await store.append(`count-${n}`, events, 'no_stream');
      }
      const seen: number[] = [];
      const before = world.relay.received;
      let sentWhileStalled = 0;
      for await (const { events, caughtUp } of store.subscribe(START, world.stop.signal)) {
        if (seen.length === 0) {
          let last = -1;
          await eventually('the server waits', async () => {
            last = world.relay.received;
            await pause(500);
            return world.relay.received === last;
          });
          sentWhileStalled = last - before;
        }
        expect(events.length).toBeLessThanOrEqual(500);
        seen.push(...events.map(({ data }) => (data as { n: number }).n));
        if (caughtUp) world.stop.abort();
      }
      expect(sentWhileStalled).toBeGreaterThan(0);
      expect(sentWhileStalled).toBeLessThan((total * text.length) / 2);
      expect(seen).toEqual(upTo(total));
    }, 60_000);

    it('hands history over in batches, and new events at once', async () => {
      const store = await open();
      const total = 1_000;
      await store.append(
        'count-1',
        upTo(total).map((n) => event(n)),
        'no_stream',
      );
      const { batches, seen } = world.follow(store);
      await eventually('history', () => seen.length === total);
      expect(batches.length).toBeLessThan(total);
      await eventually('caught up', () => batches.at(-1)?.caughtUp === true);
      const before = batches.length;
      await fill(store, 'count-1', 1, total);
      await eventually('the new one', () => seen.length === total + 1);
      expect(batches.length).toBe(before + 1);
    });

    it('resumes after the events that the server has scanned, not at its own last event', async () => {
      const [store, other] = [await open(), await open({ prefix: `${world.prefix}other` })];
      const starts = jest.spyOn(EventStoreDBClient.prototype, 'subscribeToAll');
      const startedAt = (): bigint => {
        const from = starts.mock.calls.at(-1)?.[0]?.fromPosition;
        return typeof from === 'object' ? from.commit : 0n;
      };
      const { batches, done } = world.follow(store);
      await eventually('the start', () => batches.length === 1);
      const others = upTo(600).map((n) => event(n));
      await other.append('count-1', others, 'no_stream');
      await fill(store, 'count-1', 1);
      await eventually('the own event', () => batches.length === 2);
      const { position } = await other.append('count-1', [...upTo(300).map((n) => event(n))], 599n);
      await eventually('a start from beyond the own event', async () => {
        const before = starts.mock.calls.length;
        await world.cut();
        await eventually('another start', () => starts.mock.calls.length > before);
        return startedAt() > BigInt(batches[1]!.position.split('-')[0]!);
      });
      expect(startedAt() <= BigInt(position.split('-')[0]!)).toBe(true);
      await fill(store, 'count-1', 1, 1);
      await eventually('the next own event', () => batches.length === 3);
      world.stop.abort();
      await done;
      expect(batches.flatMap(({ events }) => events.map(({ revision }) => revision))).toEqual([0n, 1n]);
    }, 60_000);

    it('leaves nothing open when it is aborted and the store is closed', async () => {
      const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
      const before = sockets();
      const store = await open();
      const { seen, done } = world.follow(store);
      await fill(store, 'count-1', 3);
      await eventually('the events', () => seen.length === 3);
      expect(sockets()).toBeGreaterThan(before);
      world.stop.abort();
      await done;
      await store.close();
      await eventually('the sockets are closed', () => sockets() === before);
    });

    it('is ended by the close of its store', async () => {
      const store = await open();
      const { batches, done } = world.follow(store);
      await eventually('the start', () => batches.length === 1);
      await store.close();
      await done;
      expect(world.warnings).toEqual([]);
    });

    it('skips events that another program wrote to streams named like ours, and says so once', async () => {
      const store = await open();
      const [first, second] = [`${world.prefix}.count-0`, `${world.prefix}.count-2`];
      await world.foreign(first, jsonEvent({ type: 'Foreign', data: {} }));
      await world.foreign(first, jsonEvent({ type: 'Foreign', data: {}, metadata: { commandId: 7 } }), 0n);
      await world.foreign(
        second,
        binaryEvent({ type: 'Foreign', data: Buffer.from('\0'), metadata: Buffer.from('{') }),
      );
      await fill(store, 'count-1', 2);
      const { seen } = world.follow(store);
      await eventually('the own events', () => seen.length === 2);
      expect((await store.readAll(START, 10)).map(({ stream }) => stream)).toEqual(['count-1', 'count-1']);
      expect(await store.lastPosition()).toBe((await store.readAll(START, 10)).at(-1)?.position);
      expect(world.warnings).toEqual([expect.objectContaining({ fields: { first: `event 0 of stream ${first}` } })]);
      // Only the stream itself is lost, because an append after a skipped event could not name its revision.
      const reading = (async () => {
        for await (const event of store.read('count-0')) expect(event).toBeUndefined();
      })();
      await expect(reading).rejects.toThrow(`event 0 of stream ${first} cannot be read: another program wrote it`);
    });
  });

  describe('append', () => {
    it('is written once when the answer is lost, and answered then', async () => {
      const sent = jest.spyOn(StreamsClient.prototype, 'append');
      const store = await open();
      const appends = upTo(30).map((n) => store.append(`count-${n}`, [event(n), event(n)], 'no_stream'));
      await eventually('appends in flight', () => sent.mock.calls.length > 0);
      await world.cut();
      const results = await Promise.all(appends);
      expect(results.map(({ revision }) => revision)).toEqual(upTo(30).map(() => 1n));
      const all = await store.readAll(START, 1_000);
      expect(all).toHaveLength(60);
      const lasts = all.filter(({ revision }) => revision === 1n).map(({ position }) => position);
      expect(results.map(({ position }) => position).sort()).toEqual(lasts);
    }, 60_000);

    it('uses separate calls unless the shared one is configured', async () => {
      const { prototype } = StreamsClient;
      const [append, batchAppend] = [jest.spyOn(prototype, 'append'), jest.spyOn(prototype, 'batchAppend')];
      await fill(await open(), 'count-1', 3);
      expect([append.mock.calls.length, batchAppend.mock.calls.length]).toEqual([3, 0]);
      await fill(await open({ batchAppend: true }), 'count-2', 3);
      expect([append.mock.calls.length, batchAppend.mock.calls.length]).toEqual([3, 1]);
    });
  });

  describe('log shared with others', () => {
    it('gives each installation its own events', async () => {
      const prefixes = ['a', 'ab', 'a.b'].map((end) => `${world.prefix}${end}`);
      const own = await Promise.all(prefixes.map((prefix) => open({ prefix })));
      for (const [i, store] of own.entries()) await store.append('count-1', [event(i)], 'no_stream');
      for (const [i, store] of own.entries()) {
        const all = await store.readAll(START, 100);
        expect(all.map(({ stream, data }) => [stream, data])).toEqual([['count-1', { n: i, text: '' }]]);
        expect(await store.lastPosition()).toBe(all[0]?.position);
        for await (const batch of store.subscribe(START, AbortSignal.any([world.stop.signal]))) {
          expect(batch.events).toEqual(all);
          break;
        }
      }
    });

    it('leaves out what the server writes for itself', async () => {
      const store = await open();
      for (const stream of ['$stats-1', '$$count-1']) {
        await world.foreign(stream, jsonEvent({ type: '$metadata', data: {} }));
      }
      expect(await store.readAll(START, 10)).toEqual([]);
      expect(await store.lastPosition()).toBe(START);
      for await (const batch of store.subscribe(START, world.stop.signal)) {
        expect(batch).toEqual({ events: [], caughtUp: true, position: START });
        break;
      }
    });
  });

  describe('an unreachable server', () => {
    it('is named by open, without the credentials', async () => {
      await world.relay.cut('refused');
      const url = `esdb://admin:changeit@${world.address}?tls=false`;
      const refused = openEventStoreDb({ url, prefix: 'a', onWarning: () => undefined });
      await expect(refused).rejects.toThrow(`EventStoreDB at ${world.address} does not answer`);
      await expect(refused).rejects.not.toThrow('changeit');
    });

    it('is named by open when it accepts connections and does not answer', async () => {
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => void sockets.add(socket));
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const url = `esdb://127.0.0.1:${port}?tls=false`;
      await expect(openEventStoreDb({ url, prefix: 'a', onWarning: () => undefined })).rejects.toThrow(
        `127.0.0.1:${port}`,
      );
      for (const socket of sockets) socket.destroy();
      silent.close();
      await once(silent, 'close');
    });

    it('is named by ping, and reached again later', async () => {
      const store = await open();
      await store.ping();
      await world.relay.cut('refused');
      await expect(store.ping()).rejects.toThrow(`EventStoreDB at ${world.address} does not answer`);
      await world.relay.restore();
      await eventually('it answers again', () =>
        store.ping().then(
          () => true,
          () => false,
        ),
      );
      await fill(store, 'count-1', 1);
    });

    it('is not called with a prefix that would break the categories', async () => {
      await expect(open({ prefix: 'a-b' })).rejects.toThrow('no "-"');
    });
  });
});
