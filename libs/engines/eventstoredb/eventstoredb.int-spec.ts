import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { binaryEvent, EventStoreDBClient, jsonEvent, type EventData } from '@eventstore/db-client';
import { eventually } from '#libs/engines/conformance/eventually.js';
import { type EventBatch, type EventStore } from '#libs/kernel/event-store.js';
import { START } from '#libs/kernel/events.js';
import { startEventStoreStandIn, type StandIn } from '#test/engines/eventstore-stand-in/stand-in.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { openEventStoreDb, type EventStoreDbEventStore, type EventStoreDbOptions } from './index.js';
import { event, upTo } from './testing/stand-in-world.js';

/** Always on the stand-in, because a test may not cut a real server off from others. */

interface Warning {
  readonly text: string;
  readonly fields: object;
}

describe('EventStoreDB adapter', () => {
  let dir: string;
  let server: StandIn;
  let stores: EventStoreDbEventStore[];
  let warnings: Warning[];
  let stop: AbortController;

  beforeEach(async () => {
    dir = tempDir('eventstoredb');
    server = await startEventStoreStandIn({ dir });
    stores = [];
    warnings = [];
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    for (const store of stores) await store.close();
    await server.stop();
    removeDir(dir);
  });

  const open = async (options: Partial<EventStoreDbOptions> = {}): Promise<EventStoreDbEventStore> => {
    const onWarning = (text: string, fields: object): void => void warnings.push({ text, fields });
    const store = await openEventStoreDb({ url: server.url, prefix: 't', onWarning, ...options });
    stores.push(store);
    return store;
  };

  const restart = async (): Promise<void> => {
    const { port } = server;
    await server.stop();
    server = await startEventStoreStandIn({ dir, port });
  };

  /** Appends `count` events to a stream one by one, from revision `from`. */
  const fill = async (store: EventStore, stream: string, count: number, from = 0): Promise<void> => {
    for (let n = from; n < from + count; n++) {
      await store.append(stream, [event(n)], n === 0 ? 'no_stream' : BigInt(n - 1));
    }
  };

  const foreign = async (
    stream: string,
    written: EventData,
    expectedRevision: bigint | 'no_stream' = 'no_stream',
  ): Promise<void> => {
    const client = EventStoreDBClient.connectionString(server.url);
    await client.appendToStream(stream, written, { expectedRevision });
    await client.dispose();
  };

  const follow = (store: EventStore): { seen: number[]; batches: EventBatch[]; done: Promise<void> } => {
    const seen: number[] = [];
    const batches: EventBatch[] = [];
    const done = (async () => {
      for await (const batch of store.subscribe(START, stop.signal)) {
        batches.push(batch);
        seen.push(...batch.events.map(({ data }) => (data as { n: number }).n));
      }
    })();
    return { seen, batches, done };
  };

  describe('subscription', () => {
    it('loses and repeats nothing when the server is cut off and restarted in the middle', async () => {
      const store = await open();
      const { seen, batches, done } = follow(store);
      await fill(store, 'count-1', 40);
      await eventually('the first events', () => seen.length > 0);
      const goOn = fill(store, 'count-1', 200, 40);
      await server.cut();
      await eventually('events after the cut', () => seen.length > 60);
      await restart();
      await goOn;
      await eventually('all events', () => seen.length >= 240);
      await fill(store, 'count-1', 10, 240);
      await eventually('live events', () => seen.length >= 250);
      stop.abort();
      await done;
      expect(seen).toEqual(upTo(250));
      expect(batches.at(-1)?.position).toBe(await store.lastPosition());
    }, 60_000);

    it('reports each outage once, with the server, the reason and the number of outages', async () => {
      const store = await open();
      const { seen, done } = follow(store);
      await fill(store, 'count-1', 1);
      await eventually('the first event', () => seen.length === 1);
      const { port } = server;
      await server.stop();
      await eventually('a warning', () => warnings.length > 0);
      // Several attempts fail before the server is back.
      await expect(store.ping()).rejects.toThrow();
      server = await startEventStoreStandIn({ dir, port });
      await fill(store, 'count-1', 1, 1);
      await eventually('the second event', () => seen.length === 2);
      expect(warnings).toHaveLength(1);
      await server.cut();
      await eventually('a second warning', () => warnings.length === 2);
      stop.abort();
      await done;
      const [first, second] = warnings;
      expect(first?.text).toContain(`127.0.0.1:${port}`);
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
      let sentWhileStalled = 0;
      for await (const { events, caughtUp } of store.subscribe(START, stop.signal)) {
        if (seen.length === 0) {
          await eventually('the server waits', () => server.reads.waiting === 1);
          sentWhileStalled = server.reads.eventsSent;
        }
        expect(events.length).toBeLessThanOrEqual(500);
        seen.push(...events.map(({ data }) => (data as { n: number }).n));
        if (caughtUp) stop.abort();
      }
      expect(sentWhileStalled).toBeLessThan(2_000);
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
      const { batches, seen } = follow(store);
      await eventually('history', () => seen.length === total);
      expect(batches.length).toBeLessThan(total);
      await eventually('caught up', () => batches.at(-1)?.caughtUp === true);
      const before = batches.length;
      await fill(store, 'count-1', 1, total);
      await eventually('the new one', () => seen.length === total + 1);
      expect(batches.length).toBe(before + 1);
    });

    it('resumes after the events that the server has scanned, not at its own last event', async () => {
      const [store, other] = [await open(), await open({ prefix: 'other' })];
      const { batches, done } = follow(store);
      await eventually('the start', () => batches.length === 1);
      const others = upTo(600).map((n) => event(n));
      await other.append('count-1', others, 'no_stream');
      await fill(store, 'count-1', 1);
      await eventually('the own event', () => batches.length === 2);
      const { position } = await other.append('count-1', [...upTo(300).map((n) => event(n))], 599n);
      await eventually('a start from beyond the own event', async () => {
        await server.cut();
        await eventually('another start', () => server.reads.subscriptions === 1);
        const own = BigInt(batches[1]!.position.split('-')[0]!);
        return (server.reads.startedAt.at(-1) ?? 0n) > own;
      });
      expect(server.reads.startedAt.at(-1)! <= BigInt(position.split('-')[0]!)).toBe(true);
      await fill(store, 'count-1', 1, 1);
      await eventually('the next own event', () => batches.length === 3);
      stop.abort();
      await done;
      expect(batches.flatMap(({ events }) => events.map(({ revision }) => revision))).toEqual([0n, 1n]);
    }, 60_000);

    it('leaves nothing open when it is aborted and the store is closed', async () => {
      const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
      const before = sockets();
      const store = await open();
      const { seen, done } = follow(store);
      await fill(store, 'count-1', 3);
      await eventually('the events', () => seen.length === 3);
      expect(server.reads.subscriptions).toBe(1);
      expect(sockets()).toBeGreaterThan(before);
      stop.abort();
      await done;
      await eventually('the server ends the subscription', () => server.reads.subscriptions === 0);
      await store.close();
      await eventually('the sockets are closed', () => sockets() === before);
    });

    it('is ended by the close of its store', async () => {
      const store = await open();
      const { batches, done } = follow(store);
      await eventually('the start', () => batches.length === 1);
      await store.close();
      await done;
      expect(warnings).toEqual([]);
    });

    it('skips events that another program wrote to streams named like ours, and says so once', async () => {
      const store = await open();
      await foreign('t.count-0', jsonEvent({ type: 'Foreign', data: {} }));
      await foreign('t.count-0', jsonEvent({ type: 'Foreign', data: {}, metadata: { commandId: 7 } }), 0n);
      await foreign('t.count-2', binaryEvent({ type: 'Foreign', data: Buffer.from('\0'), metadata: Buffer.from('{') }));
      await fill(store, 'count-1', 2);
      const { seen } = follow(store);
      await eventually('the own events', () => seen.length === 2);
      expect((await store.readAll(START, 10)).map(({ stream }) => stream)).toEqual(['count-1', 'count-1']);
      expect(await store.lastPosition()).toBe((await store.readAll(START, 10)).at(-1)?.position);
      expect(warnings).toEqual([expect.objectContaining({ fields: { first: 'event 0 of stream t.count-0' } })]);
      // Only the stream itself is lost, because an append after a skipped event could not name its revision.
      const reading = (async () => {
        for await (const event of store.read('count-0')) expect(event).toBeUndefined();
      })();
      await expect(reading).rejects.toThrow('event 0 of stream t.count-0 cannot be read: another program wrote it');
    });
  });

  describe('append', () => {
    it('is written once when the answer is lost, and answered then', async () => {
      const store = await open();
      const appends = upTo(30).map((n) => store.append(`count-${n}`, [event(n), event(n)], 'no_stream'));
      await eventually('appends in flight', () => server.calls('append') > 0);
      await server.cut();
      const results = await Promise.all(appends);
      expect(results.map(({ revision }) => revision)).toEqual(upTo(30).map(() => 1n));
      const all = await store.readAll(START, 1_000);
      expect(all).toHaveLength(60);
      const lasts = all.filter(({ revision }) => revision === 1n).map(({ position }) => position);
      expect(results.map(({ position }) => position).sort()).toEqual(lasts);
    }, 60_000);

    it('uses separate calls unless the shared one is configured', async () => {
      await fill(await open(), 'count-1', 3);
      expect([server.calls('append'), server.calls('batchAppend')]).toEqual([3, 0]);
      await fill(await open({ batchAppend: true }), 'count-2', 3);
      expect([server.calls('append'), server.calls('batchAppend')]).toEqual([3, 1]);
    });
  });

  describe('log shared with others', () => {
    it('gives each installation its own events', async () => {
      const prefixes = ['', 'a', 'ab', 'a.b'];
      const own = await Promise.all(prefixes.map((prefix) => open({ prefix })));
      for (const [i, store] of own.entries()) await store.append('count-1', [event(i)], 'no_stream');
      for (const [i, store] of own.entries()) {
        const all = await store.readAll(START, 100);
        expect(all.map(({ stream, data }) => [stream, data])).toEqual([['count-1', { n: i, text: '' }]]);
        expect(await store.lastPosition()).toBe(all[0]?.position);
        for await (const batch of store.subscribe(START, AbortSignal.any([stop.signal]))) {
          expect(batch.events).toEqual(all);
          break;
        }
      }
    });

    it('leaves out what the server writes for itself', async () => {
      const store = await open({ prefix: '' });
      const client = EventStoreDBClient.connectionString(server.url);
      for (const stream of ['$stats-1', '$$count-1']) {
        const system = jsonEvent({ type: '$metadata', data: {} });
        await client.appendToStream(stream, system, { expectedRevision: 'no_stream' });
      }
      await client.dispose();
      expect(await store.readAll(START, 10)).toEqual([]);
      expect(await store.lastPosition()).toBe(START);
      for await (const batch of store.subscribe(START, stop.signal)) {
        expect(batch).toEqual({ events: [], caughtUp: true, position: START });
        break;
      }
    });
  });

  describe('an unreachable server', () => {
    it('is named by open, without the credentials', async () => {
      await server.stop();
      const url = `esdb://admin:changeit@127.0.0.1:${server.port}?tls=false`;
      const refused = openEventStoreDb({ url, prefix: '', onWarning: () => undefined });
      await expect(refused).rejects.toThrow(`EventStoreDB at 127.0.0.1:${server.port} does not answer`);
      await expect(refused).rejects.not.toThrow('changeit');
      server = await startEventStoreStandIn({ dir });
    });

    it('is named by open when it accepts connections and does not answer', async () => {
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => void sockets.add(socket));
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const url = `esdb://127.0.0.1:${port}?tls=false`;
      await expect(openEventStoreDb({ url, prefix: '', onWarning: () => undefined })).rejects.toThrow(
        `127.0.0.1:${port}`,
      );
      for (const socket of sockets) socket.destroy();
      silent.close();
      await once(silent, 'close');
    });

    it('is named by ping, and reached again later', async () => {
      const store = await open();
      await store.ping();
      const { port } = server;
      await server.stop();
      await expect(store.ping()).rejects.toThrow(`EventStoreDB at 127.0.0.1:${port} does not answer`);
      server = await startEventStoreStandIn({ dir, port });
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
