import { afterEach, describe, expect, it } from '@jest/globals';
import { type DelayedEvent } from '#libs/stream-log/delayed-events.js';
import { InMemoryDelayedEvents } from '#libs/stream-log/testing/in-memory-delayed-events.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { startReleasePump } from './release-pump.js';

const topics = perEmitterTopics({ emitsAgeMs: 1e12, emitsBytes: 1e9 });
const waiting = (n: number, dueAt: number, sourceId = 'dc_a'): DelayedEvent => ({
  sourceId,
  workspaceId: 'o_1',
  eventId: `${n}-0`,
  emitId: `e${n}`,
  channel: '',
  dueAt,
  hops: 0,
  payload: 'null',
});
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const world = async () => {
  const log = new InMemoryStreamLog();
  await log.createTopic('emits.dc_a', {});
  const delayed = new InMemoryDelayedEvents();
  const clock = { at: 100, now: () => clock.at };
  const failures: unknown[] = [];
  const start = (): void => {
    const onFailure = (error: unknown): number => failures.push(error);
    const pump = startReleasePump({ log, topics, delayed, clock, onFailure, pollMs: 1 });
    closing.push(() => pump.close());
  };
  const announced = async (count: number): Promise<readonly (string | undefined)[]> => {
    for (;;) {
      const records = await log.read('emits.dc_a', -1, 1_000);
      if (records.length >= count) return records.map(({ headers }) => headers['event']);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  return { log, delayed, clock, failures, start, announced };
};

describe('the release pump', () => {
  it('announces what is due in the lane of its source, once, by time and emission, and in bounded batches', async () => {
    const { delayed, clock, start, announced } = await world();
    await delayed.put(Array.from({ length: 600 }, (_, n) => waiting(n + 1, 90)));
    await delayed.put([waiting(700, 80), waiting(701, 101)]);
    start();
    const first = await announced(601);
    expect([first.length, first[0], first[1], first[600]]).toEqual([601, '700-0', '1-0', '600-0']);
    clock.at = 101;
    expect((await announced(602))[601]).toBe('701-0');
  });

  it('announces again after a while what is still there', async () => {
    const { delayed, clock, start, announced } = await world();
    await delayed.put([waiting(1, 90)]);
    start();
    await announced(1);
    clock.at += 30_001;
    expect(await announced(2)).toEqual(['1-0', '1-0']);
  });

  it('removes what belongs to a deleted source', async () => {
    const { delayed, start, announced } = await world();
    await delayed.put([waiting(1, 90, 'dc_gone'), waiting(2, 95)]);
    start();
    await announced(1);
    while (await delayed.anyIn('dc_gone', {})) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await delayed.anyIn('dc_a', {})).toBe(true);
  });

  it('reports a failure and goes on', async () => {
    const { delayed, failures, start, announced } = await world();
    await delayed.put([waiting(1, 90)]);
    let once = true;
    delayed.beforeChange = () => {
      if (once) {
        once = false;
        throw new Error('store away');
      }
    };
    start();
    while ((await delayed.due(100, 1)).length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(failures).toHaveLength(1);
    // What is in the log already is not announced again.
    expect(await announced(1)).toEqual(['1-0']);
  });

  it('announces to the other sources while one lane cannot be written, and to that one once it can be', async () => {
    const { log, delayed, failures, start, announced } = await world();
    await log.createTopic('emits.dc_off', {});
    log.hang('emits.dc_off');
    // More than a batch of it is due before the other.
    await delayed.put(Array.from({ length: 600 }, (_, n) => waiting(n + 1, 80, 'dc_off')));
    await delayed.put([waiting(700, 90)]);
    start();
    expect(await announced(1)).toEqual(['700-0']);
    // What waits in the process is bounded.
    expect(log.hangingOf('emits.dc_off')).toBeLessThanOrEqual(256);
    log.refuse('emits.dc_off');
    expect(failures).toHaveLength(1);
    // They stay due, and keep their order over an event that is due later.
    await delayed.put([waiting(601, 95, 'dc_off')]);
    log.recover('emits.dc_off');
    const events = () => log.recordsOf('emits.dc_off').map(({ headers }) => headers['event']);
    while (events().length < 601) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(events()).toEqual(Array.from({ length: 601 }, (_, n) => `${n + 1}-0`));
  });
});
