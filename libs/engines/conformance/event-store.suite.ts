import { expect, it } from '@jest/globals';
import { eventHistory } from '#libs/kernel/event-history.js';
import { RevisionConflict, type EventBatch, type EventStore } from '#libs/kernel/event-store.js';
import { isPosition, START, type NewEvent, type RecordedEvent } from '#libs/kernel/events.js';
import { eventually } from './eventually.js';
import { type MakeHarness, type Part } from './harness.js';
import { bounded, collect, event, events, fill, numbers, relentless } from './numbered-events.js';
import { runParts } from './run-parts.js';

export const EVENT_STORE_PARTS = [
  'append',
  'conflict',
  'repeat',
  'read',
  'all',
  'subscribe',
  'to its end',
  'restart',
] as const;

export const describeEventStore = (name: string, make: MakeHarness<EventStore>): void =>
  runParts(`EventStore: ${name}`, EVENT_STORE_PARTS, parts, make);

const parts: Record<(typeof EVENT_STORE_PARTS)[number], Part<EventStore>> = {
  append: (store) => {
    it('answers with revision and position of the last event', async () => {
      const first = await store().append('count-1', events('a', 3), 'no_stream');
      expect(first.revision).toBe(2n);
      const second = await store().append('count-1', events('b', 1), 2n);
      expect(second.revision).toBe(3n);
      expect(second.position > first.position).toBe(true);
      expect(isPosition(second.position)).toBe(true);
      expect(second.position > START).toBe(true);
      expect(await store().lastPosition()).toBe(second.position);
    });

    it('records the event as given', async () => {
      await store().append('count-1', [event('a', 7)], 'no_stream');
      const [recorded] = await collect(store().read('count-1'));
      expect(recorded).toMatchObject({ ...event('a', 7), stream: 'count-1', revision: 0n });
      expect(typeof recorded?.recordedAt).toBe('number');
    });

    it('takes the time of an event from another installation, and its own for all others', async () => {
      const before = Date.now();
      const there = event('there');
      const imported: NewEvent = { ...there, metadata: { ...there.metadata, $recordedAt: 1_234_567_890_123 } };
      await store().append('count-1', [imported, event('here')], 'no_stream');
      const [first, second] = await collect(store().read('count-1'));
      expect(first).toMatchObject({ ...imported, recordedAt: 1_234_567_890_123 });
      // The engine's clock may be that of another machine, so only the distance to the given time is certain.
      expect(Math.abs((second?.recordedAt ?? 0) - before)).toBeLessThan(3_600_000);
      const inAll = (await store().readAll(START, 2)).map(({ recordedAt }) => recordedAt);
      expect(inAll).toEqual([first?.recordedAt, second?.recordedAt]);
    });

    it('counts the appended events as read once a reader is at the position of the answer', async () => {
      const { position } = await store().append('count-1', events('a', 3), 'no_stream');
      const read = await store().readAll(START, 10);
      expect(read.at(-1)?.position).toBe(position);
      expect(await store().readAll(position, 10)).toEqual([]);
    });

    it('takes events as large as the API lets them become, and gives them back everywhere', async () => {
      const large = [3_000_000, 5, 1_200_000].map((length, n): NewEvent => {
        return { ...event(`large${n}`, n), data: { n, text: 'é'.repeat(length / 2) } };
      });
      const result = await store().append('count-1', large, 'no_stream');
      expect(await store().append('count-1', large, 'no_stream')).toEqual(result);
      await store().append('count-2', events('small', 1), 'no_stream');
      const read = await collect(store().read('count-1'));
      expect(read).toMatchObject(large);
      expect(read[0]?.metadata).toEqual(large[0]?.metadata);
      const all: RecordedEvent[] = [];
      for (let after = START; ;) {
        const page = await store().readAll(after, 10);
        all.push(...page);
        const last = page.at(-1);
        if (!last) break;
        after = last.position;
      }
      expect(all.slice(0, 3)).toEqual(read);
      expect(all).toHaveLength(4);
      const stop = new AbortController();
      const seen: RecordedEvent[] = [];
      for await (const batch of store().subscribe(START, stop.signal)) {
        seen.push(...batch.events);
        expect(batch.position).toBe(seen.at(-1)?.position ?? START);
        if (seen.length === 4) stop.abort();
      }
      expect(seen).toEqual(all);
    });

    it('refuses an empty list', async () => {
      await expect(store().append('count-1', [], 'no_stream')).rejects.toThrow('without events');
    });

    it('takes appends to many streams at once', async () => {
      const streams = Array.from({ length: 100 }, (_, i) => `count-${i}`);
      await Promise.all(streams.map((stream) => store().append(stream, events(stream, 2), 'no_stream')));
      const all = await store().readAll(START, 1000);
      expect(all).toHaveLength(200);
      // The events of one append are adjacent and in order.
      for (let i = 0; i < 200; i += 2) {
        expect(all[i]?.stream).toBe(all[i + 1]?.stream);
        expect([all[i]?.revision, all[i + 1]?.revision]).toEqual([0n, 1n]);
      }
    });
  },

  conflict: (store) => {
    const conflict = async (work: Promise<unknown>): Promise<RevisionConflict> => {
      const error = await work.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(RevisionConflict);
      return error as RevisionConflict;
    };

    it('names both revisions and writes nothing', async () => {
      await fill(store(), 'count-1', 3);
      const behind = await conflict(store().append('count-1', events('x', 2), 0n));
      expect([behind.stream, behind.expected, behind.actual]).toEqual(['count-1', 0n, 2n]);
      const ahead = await conflict(store().append('count-1', events('y', 1), 5n));
      expect([ahead.expected, ahead.actual]).toEqual([5n, 2n]);
      expect(await collect(store().read('count-1'))).toHaveLength(3);
    });

    it('when the stream must not exist but does, and vice versa', async () => {
      await fill(store(), 'count-1', 1);
      const exists = await conflict(store().append('count-1', events('x', 1), 'no_stream'));
      expect([exists.expected, exists.actual]).toEqual(['no_stream', 0n]);
      const missing = await conflict(store().append('count-2', events('y', 1), 0n));
      expect([missing.expected, missing.actual]).toEqual([0n, 'no_stream']);
    });

    it('accepts one of many writers at the same revision', async () => {
      await fill(store(), 'count-1', 1);
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store().append('count-1', events(`w${i}`, 1), 0n)),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await collect(store().read('count-1'))).toHaveLength(2);
    });
  },

  repeat: (store, harness) => {
    it('answers a repeat with the first result, also when the stream has advanced', async () => {
      const first = await store().append('count-1', events('a', 2), 'no_stream');
      await store().append('count-1', events('b', 1), 1n);
      expect(await store().append('count-1', events('a', 2), 'no_stream')).toEqual(first);
      expect(await collect(store().read('count-1'))).toHaveLength(3);
    });

    it('answers two equal appends sent together alike', async () => {
      const [one, two] = await Promise.all([
        store().append('count-1', events('a', 2), 'no_stream'),
        store().append('count-1', events('a', 2), 'no_stream'),
      ]);
      expect(one).toEqual(two);
      expect(await store().readAll(START, 10)).toHaveLength(2);
    });

    it('answers a repeat after a restart', async () => {
      await fill(store(), 'count-1', 2);
      const first = await store().append('count-1', events('a', 2), 1n);
      const reopened = await harness().reopen();
      expect(await reopened.append('count-1', events('a', 2), 1n)).toEqual(first);
    });

    it('does not take other events for a repeat', async () => {
      await store().append('count-1', events('a', 2), 'no_stream');
      await expect(store().append('count-1', [event('a0'), event('z')], 'no_stream')).rejects.toThrow(RevisionConflict);
    });
  },

  read: (store) => {
    it('yields nothing for a stream that does not exist', async () => {
      expect(await collect(store().read('count-none'))).toEqual([]);
      expect(await collect(store().read('count-none', { direction: 'backwards' }))).toEqual([]);
    });

    it('goes forwards and backwards, from a revision, up to a limit', async () => {
      await fill(store(), 'count-1', 5);
      await fill(store(), 'count-2', 2);
      const read = async (options?: Parameters<EventStore['read']>[1]): Promise<number[]> =>
        numbers(await collect(store().read('count-1', options)));
      expect(await read()).toEqual([0, 1, 2, 3, 4]);
      expect(await read({ from: 2n })).toEqual([2, 3, 4]);
      expect(await read({ from: 1n, limit: 2 })).toEqual([1, 2]);
      expect(await read({ direction: 'backwards' })).toEqual([4, 3, 2, 1, 0]);
      expect(await read({ direction: 'backwards', from: 2n })).toEqual([2, 1, 0]);
      expect(await read({ direction: 'backwards', limit: 1 })).toEqual([4]);
      expect(await read({ from: 9n })).toEqual([]);
      expect(await read({ limit: 0 })).toEqual([]);
    });

    it('reads a long stream completely', async () => {
      await store().append('count-1', events('a', 700), 'no_stream');
      await store().append('count-1', events('b', 700), 699n);
      const revisions = (await collect(store().read('count-1'))).map(({ revision }) => Number(revision));
      expect(revisions).toEqual(Array.from({ length: 1400 }, (_, i) => i));
      const backwards = await collect(store().read('count-1', { direction: 'backwards', limit: 1200 }));
      expect([backwards[0]?.revision, backwards.at(-1)?.revision, backwards.length]).toEqual([1399n, 200n, 1200]);
    });

    it('may be ended early', async () => {
      await fill(store(), 'count-1', 3);
      for await (const first of store().read('count-1')) {
        expect(first.revision).toBe(0n);
        break;
      }
      expect(await collect(store().read('count-1'))).toHaveLength(3);
    });
  },

  all: (store) => {
    it('is empty at first', async () => {
      expect(await store().readAll(START, 10)).toEqual([]);
      expect(await store().lastPosition()).toBe(START);
    });

    it('pages through every stream in the order of the appends', async () => {
      for (let n = 0; n < 6; n++) {
        await store().append(`count-${n % 3}`, [event(`e${n}`, n)], n < 3 ? 'no_stream' : 0n);
      }
      const seen: RecordedEvent[] = [];
      for (let after = START; ;) {
        const page = await store().readAll(after, 4);
        seen.push(...page);
        const last = page.at(-1);
        if (!last) break;
        after = last.position;
      }
      expect(numbers(seen)).toEqual([0, 1, 2, 3, 4, 5]);
      const positions = seen.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort());
    });
  },

  subscribe: (store, harness) => {
    it('reports the end of history, at once on an empty log', async () => {
      const stop = new AbortController();
      for await (const batch of store().subscribe(START, stop.signal)) {
        expect(batch).toEqual({ events: [], caughtUp: true, position: START });
        stop.abort();
      }
    });

    it('resumes after a position, then goes on live', async () => {
      await fill(store(), 'count-1', 4);
      const [, second] = await store().readAll(START, 2);
      const stop = new AbortController();
      const seen: number[] = [];
      let caughtUp = false;
      for await (const batch of store().subscribe(second!.position, stop.signal)) {
        seen.push(...numbers(batch.events));
        if (batch.caughtUp && !caughtUp) {
          caughtUp = true;
          await store().append('count-1', [event('live', 4)], 3n);
        }
        if (seen.includes(4)) stop.abort();
      }
      expect(seen).toEqual([2, 3, 4]);
    });

    it('neither misses nor reorders under concurrent writers, for fast and slow readers', async () => {
      const writers = 8;
      const each = 60;
      const follow = async (slow: boolean): Promise<string[]> => {
        const stop = new AbortController();
        const seen: string[] = [];
        for await (const batch of store().subscribe(START, stop.signal)) {
          seen.push(...batch.events.map(({ position }) => position));
          if (slow) await harness().flush();
          if (seen.length >= writers * each) stop.abort();
        }
        return seen;
      };
      const readers = [follow(false), follow(true), follow(false)];
      await Promise.all(Array.from({ length: writers }, (_, i) => fill(store(), `count-${i}`, each)));
      const all = (await store().readAll(START, 10_000)).map(({ position }) => position);
      expect(all).toHaveLength(writers * each);
      for (const seen of await Promise.all(readers)) expect(seen).toEqual(all);
    });

    it('ends without an error when aborted while it waits, and before it starts', async () => {
      const stop = new AbortController();
      const batches: EventBatch[] = [];
      const reading = (async () => {
        for await (const batch of store().subscribe(START, stop.signal)) batches.push(batch);
      })();
      await fill(store(), 'count-1', 1);
      await eventually('the event is handed over', () => batches.some((batch) => batch.events.length > 0));
      stop.abort();
      await reading;
      for await (const batch of store().subscribe(START, stop.signal)) expect(batch).toBeUndefined();
    });
  },

  'to its end': (store) => {
    it('reads the log that was there at the call, while others append without a pause', async () => {
      const write = relentless(store, 'count-1', 300);
      for (let n = 0; n < 3; n++) await write();
      const there = (await store().readAll(START, 1_000)).map(({ id }) => id);
      const read: string[] = [];
      for await (const page of eventHistory(store(), 200)) {
        read.push(...page.map(({ id }) => id));
        bounded(read.length);
        await write();
      }
      expect(read).toEqual(there);
      expect((await store().readAll(START, 10_000)).length).toBeGreaterThan(there.length);
    });

    it('reads nothing of an empty log', async () => {
      for await (const page of eventHistory(store())) expect(page).toBeUndefined();
    });

    it('reads a stream while others append to it without a pause', async () => {
      const write = relentless(store, 'count-1', 300);
      for (let n = 0; n < 4; n++) await write();
      const read: bigint[] = [];
      for await (const { revision } of store().read('count-1')) {
        read.push(revision);
        bounded(read.length);
        if (read.length % 200 === 0) await write();
      }
      expect(read.length).toBeGreaterThanOrEqual(1_200);
      expect(read).toEqual(Array.from({ length: read.length }, (_, n) => BigInt(n)));
    });

    it('tells a subscriber that the history ends, while others append without a pause', async () => {
      const write = relentless(store, 'count-1', 600);
      for (let n = 0; n < 2; n++) await write();
      const stop = new AbortController();
      let read = 0;
      for await (const batch of store().subscribe(START, stop.signal)) {
        read += batch.events.length;
        bounded(read);
        if (batch.caughtUp) stop.abort();
        else await write();
      }
      expect(read).toBeGreaterThanOrEqual(1_200);
    });
  },

  restart: (store, harness) => {
    it('keeps everything, and goes on counting', async () => {
      await fill(store(), 'count-1', 3);
      const before = await store().readAll(START, 10);
      const reopened = await harness().reopen();
      expect(await reopened.readAll(START, 10)).toEqual(before);
      const next = await reopened.append('count-1', [event('more', 3)], 2n);
      expect(next.revision).toBe(3n);
      expect(next.position > before[2]!.position).toBe(true);
    });
  },
};
