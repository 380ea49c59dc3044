import { expect, it } from '@jest/globals';
import {
  type DelayedEvent,
  type DelayedEvents,
  type DelayedKey,
  delayedSort,
} from '#libs/stream-log/delayed-events.js';
import { type MakeHarness, type Part } from './harness.js';
import { runParts } from './run-parts.js';

export const DELAYED_EVENTS_PARTS = ['replacement', 'removal', 'pages', 'usage', 'listing', 'restart'] as const;

export const describeDelayedEvents = (name: string, make: MakeHarness<DelayedEvents>): void =>
  runParts(`DelayedEvents: ${name}`, DELAYED_EVENTS_PARTS, parts, make);

const waiting = (n: number, dueAt: number, sourceId = 'dc_1'): DelayedEvent => ({
  sourceId,
  workspaceId: 'o_1',
  eventId: `${n}-0`,
  emitId: `emit${n}`,
  channel: 'later',
  dueAt,
  hops: 0,
  dedupe: '"id"',
  summary: 'süm',
  ts: '5',
  payload: '{"a":"ü"}',
});
const bare: DelayedEvent = {
  sourceId: 'dc_2',
  workspaceId: 'o_1',
  eventId: '7-3',
  emitId: 'e',
  channel: '',
  dueAt: -5,
  hops: 3,
  test: '1',
  payload: 'null',
};
const ids = (events: readonly Pick<DelayedKey, 'eventId'>[]): string[] => events.map(({ eventId }) => eventId);
const sorts = (...ns: number[]): string[] => ns.map((n) => delayedSort(`${n}-0`));

const parts: Record<(typeof DELAYED_EVENTS_PARTS)[number], Part<DelayedEvents>> = {
  replacement: (store) => {
    it('replaces an event of the same id', async () => {
      await store().put([waiting(1, 10)]);
      await store().put([waiting(1, 20)]);
      await store().put([]);
      expect((await store().find('dc_1', '1-0'))?.dueAt).toBe(20);
      expect((await store().usage('dc_1')).count).toBe(1);
    });
  },
  removal: (store) => {
    it('takes single events, twice without harm, and of that source only', async () => {
      await store().put([waiting(1, 1), waiting(2, 1), waiting(1, 1, 'dc_10')]);
      await store().remove([{ sourceId: 'dc_1', eventId: '1-0' }]);
      await store().remove([{ sourceId: 'dc_1', eventId: '1-0' }]);
      await store().remove([]);
      expect(await store().find('dc_1', '1-0')).toBeUndefined();
      expect(await store().find('dc_1', '2-0')).toEqual(waiting(2, 1));
      expect(await store().find('dc_10', '1-0')).toEqual(waiting(1, 1, 'dc_10'));
    });

    it('takes a range with both ends, or open at either', async () => {
      const [two = '', three = '', nine = ''] = sorts(2, 3, 9);
      const left = async (): Promise<string[]> => ids((await store().page('dc_1', { limit: 20 })).events);
      await store().put([...[1, 2, 3, 4, 9, 10].map((n) => waiting(n, 1)), waiting(3, 1, 'dc_10')]);
      expect(await store().anyIn('dc_1', { from: two, to: three })).toBe(true);
      expect([...(await store().removeRange('dc_1', { from: two, to: three }))].sort()).toEqual([two, three]);
      expect(await store().removeRange('dc_1', { from: two, to: three })).toEqual([]);
      expect(await store().anyIn('dc_1', { from: two, to: three })).toBe(false);
      expect(await left()).toEqual(['10-0', '9-0', '4-0', '1-0']);
      await store().removeRange('dc_1', { from: nine });
      expect(await left()).toEqual(['4-0', '1-0']);
      await store().removeRange('dc_1', { to: two });
      expect(await left()).toEqual(['4-0']);
      await store().removeRange('dc_1', {});
      expect(await store().anyIn('dc_1', {})).toBe(false);
      expect(await store().anyIn('dc_10', {})).toBe(true);
    });
  },
  pages: (store) => {
    it('are newest first and continue in both directions', async () => {
      await store().put([...[1, 2, 3, 4, 10].map((n) => waiting(n, 100 - n)), bare]);
      const [two = '', four = ''] = sorts(2, 4);
      const page = async (query: { limit: number; after?: string; before?: string }): Promise<unknown> => {
        const { events, total } = await store().page('dc_1', query);
        return [ids(events), total];
      };
      expect(await page({ limit: 2 })).toEqual([['10-0', '4-0'], 5]);
      expect(await page({ limit: 2, after: four })).toEqual([['3-0', '2-0'], 5]);
      expect(await page({ limit: 2, before: two })).toEqual([['4-0', '3-0'], 5]);
      expect(await page({ limit: 9, after: four, before: two })).toEqual([['3-0'], 5]);
      expect(await store().page('dc_2', { limit: 1 })).toEqual({ events: [bare], total: 1 });
      expect(await store().page('dc_3', { limit: 1 })).toEqual({ events: [], total: 0 });
    });
  },
  usage: (store) => {
    it('counts the events of a source and the bytes of their payloads', async () => {
      expect(await store().usage('dc_1')).toEqual({ count: 0, bytes: 0 });
      await store().put([waiting(1, 1), waiting(2, 1), bare]);
      expect(await store().usage('dc_1')).toEqual({ count: 2, bytes: 2 * Buffer.byteLength('{"a":"ü"}') });
    });
  },
  listing: (store) => {
    it('yields every event of every source once', async () => {
      const listed = async (): Promise<DelayedEvent[]> => {
        const events: DelayedEvent[] = [];
        for await (const event of store().all()) events.push(event);
        return events;
      };
      expect(await listed()).toEqual([]);
      const events = [...Array.from({ length: 450 }, (_, i) => waiting(i, i % 7, `dc_${i % 3}x`)), bare];
      await store().put(events);
      const all = await listed();
      expect(all).toHaveLength(events.length);
      expect(all).toEqual(expect.arrayContaining(events));
    });
  },
  restart: (store, harness) => {
    it('keeps what waits', async () => {
      await store().put([waiting(1, 10), bare]);
      const reopened = await harness().reopen();
      expect(await reopened.find('dc_2', '7-3')).toEqual(bare);
      expect(await reopened.find('dc_1', '1-0')).toEqual(waiting(1, 10));
    });
  },
};
