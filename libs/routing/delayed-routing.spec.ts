import { describe, expect, it } from '@jest/globals';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { type StoredRecord } from '#libs/stream-log/stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { delayedSort } from '#libs/stream-log/delayed-events.js';
import { delayedAlarm, delayedAlarmId } from './delayed-alarm.js';
import { DelayedRouting } from './delayed-routing.js';

const topics = perEmitterTopics({ emitsAgeMs: 1e12, emitsBytes: 1e9 });
const record = (kind: string, over: Record<string, string> = {}): StoredRecord => ({
  topic: 'emits.dc_a',
  lane: 'emits.dc_a',
  key: 'dc_a',
  offset: 1,
  timestamp: 1,
  size: 1,
  headers: { kind, id: '1-0', emitter: 'dc_a', workspace: 'o_1', channel: '$in', emit: 'e1', hops: '2', ...over },
  value: '{"n":1}',
});
const delay = (n = 1): StoredRecord =>
  record('delay', { id: `${n}-0`, emit: `e${n}`, out: 'later', deliver: '99', dedupe: '"x"' });
const due = (n = 1): StoredRecord => record('due', { id: '99-0', event: `${n}-0` });
const cancel = (over: Record<string, string> = {}): StoredRecord => record('delete', over);

const world = async () => {
  const log = new InMemoryStreamLog();
  await log.createTopic('invocations.dc_a', {});
  const delayed = new InMemoryDelayedEvents();
  const alarms = new InMemoryDueStore();
  const route = async (...records: StoredRecord[]): Promise<void> => {
    const routing = new DelayedRouting({ log, topics, delayed, due: alarms });
    for (const each of records) routing.add(each);
    await routing.flush();
  };
  const released = (): Promise<readonly StoredRecord[]> => log.read('invocations.dc_a', -1, 100);
  return { log, delayed, alarms, route, released };
};

describe('events that wait, in the lane of their source', () => {
  it('are stored, and sent to the runner once they are due', async () => {
    const { delayed, alarms, route, released } = await world();
    await route(delay());
    expect(await alarms.dueBy(98, 9)).toEqual([]);
    expect(await alarms.dueBy(99, 9)).toMatchObject([
      {
        owner: 'dc_a',
        kind: 'delayed',
        record: { key: 'dc_a', headers: { kind: 'due', emitter: 'dc_a', event: '1-0' } },
      },
    ]);
    expect(await delayed.find('dc_a', '1-0')).toMatchObject({ channel: 'later', dueAt: 99, emitId: 'e1', hops: 2 });
    expect(await released()).toEqual([]);
    await route(due());
    expect((await released())[0]).toMatchObject({
      value: '{"n":1}',
      headers: { kind: 'delayed', emit: 'e1', channel: 'later', dedupe: '"x"', hops: '2', source: 'dc_a' },
    });
    expect(await delayed.anyIn('dc_a', {})).toBe(false);
    expect(alarms.entries.size).toBe(0);
  });

  it('keep the marks of the sender and of a sample while they wait', async () => {
    const { route, released } = await world();
    await route(record('delay', { ...delay().headers, nostore: '1', test: '1' }), due());
    expect((await released())[0]?.headers).toMatchObject({ nostore: '1', test: '1' });
  });

  it.each([
    ['cancelled before it is due, never goes out', [delay(), cancel(), due()], 0],
    ['due before it is cancelled, goes out', [delay(), due(), cancel()], 1],
    ['announced twice, goes out once', [delay(), due(), due()], 1],
    ['outside of a cancelled range, goes out', [delay(), cancel({ start: '2-0' }), due()], 1],
    ['at both ends of a cancelled range, never goes out', [delay(), cancel({ start: '1-0', end: '1-0' }), due()], 0],
    ['of another channel than the one deleted from, goes out', [delay(), cancel({ channel: '' }), due()], 1],
  ])('and one that is %s: in one batch, and in one batch each', async (_title, records, times) => {
    const together = await world();
    await together.route(...records);
    expect(new Set((await together.released()).map(({ headers }) => headers['id'])).size).toBe(times);
    const apart = await world();
    for (const each of records) await apart.route(each);
    expect(await apart.released()).toHaveLength(times);
  });

  it.each([
    ['cancelled', [delay(), cancel(), due()], 0],
    ['released', [delay(), due()], 1],
  ])('have the same outcome when a crash repeats the batch after each write: %s', async (_title, records, times) => {
    for (let survived = 0; survived < 6; survived++) {
      const { delayed, alarms, route, released } = await world();
      let writes = 0;
      let isDead = true;
      const change = (): void => {
        if (isDead && ++writes > survived) throw new Error('crash');
      };
      delayed.beforeChange = alarms.beforePut = alarms.beforeRemove = change;
      await route(...records).catch(() => undefined);
      isDead = false;
      await route(...records);
      expect(new Set((await released()).map(({ headers }) => headers['id'])).size).toBe(times);
      expect(await delayed.anyIn('dc_a', {})).toBe(false);
      expect(alarms.entries.size).toBe(0);
    }
  });

  it('lose their alarms when they are cancelled, and an alarm that arrives after them is removed', async () => {
    const { alarms, route, released } = await world();
    await route(delay(1), delay(2), delay(3));
    await route(cancel({ start: '2-0' }));
    expect([...alarms.entries.keys()]).toEqual([delayedAlarmId('dc_a', delayedSort('1-0'))]);
    // A crash between the cancellation and its removal leaves an alarm.
    await route(cancel());
    await alarms.put([
      delayedAlarm({
        sourceId: 'dc_a',
        workspaceId: 'o_1',
        eventId: '3-0',
        emitId: 'e3',
        channel: '',
        dueAt: 99,
        hops: 0,
        payload: '',
      }),
    ]);
    await route(due(3));
    expect([alarms.entries.size, await released()]).toEqual([0, []]);
  });

  it('ignore a record that they cannot understand', async () => {
    const { delayed, route } = await world();
    await route(
      record('delay', { deliver: 'soon', out: '' }),
      record('delay', { id: 'x', out: '', deliver: '1' }),
      due(),
    );
    expect(await delayed.anyIn('dc_a', {})).toBe(false);
  });
});
