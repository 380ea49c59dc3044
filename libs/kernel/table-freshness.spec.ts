import { describe, expect, it } from '@jest/globals';
import { Condition } from './condition.js';
import { positionOf, type Position } from './events.js';
import { TableFreshness, type TableFreshnessOptions } from './table-freshness.js';

const never = (): boolean => false;
const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await Promise.resolve();
};

/** A log, and tables that follow it when the test moves them. */
const world = (more: Partial<TableFreshnessOptions> = {}) => {
  const moved = new Condition();
  const delays: string[] = [];
  const its = { now: 10_000, end: 1, held: 1, asked: 0 };
  const tables = new TableFreshness({
    now: () => its.now,
    lastPosition: async () => {
      its.asked++;
      return positionOf(its.end);
    },
    follower: {
      async waitFor(position: Position) {
        await moved.until(() => positionOf(its.held) >= position);
        return true;
      },
    },
    onDelayed: ({ message }) => delays.push(message),
    ...more,
  });
  const follow = (to: number): void => {
    its.held = to;
    moved.wake();
  };
  /** Whether a promise has resolved by now. */
  const watch = (waiting: Promise<boolean>) => {
    const watched = { is: undefined as boolean | undefined };
    void waiting.then((held) => (watched.is = held));
    return watched;
  };
  return { tables, its, follow, watch, delays };
};

describe('tables in memory', () => {
  it('of a slow follower decide nothing about an event until they hold what was answered before it', async () => {
    const { tables, its, follow, watch } = world();
    its.end = 5;
    const waiting = watch(tables.holdAnswered(never));
    await turns();
    expect(waiting.is).toBeUndefined();
    follow(4);
    await turns();
    expect(waiting.is).toBeUndefined();
    follow(5);
    await turns();
    expect(waiting.is).toBe(true);
  });

  it('are compared with the log once for all events that wait, and not for each of many', async () => {
    const { tables, its } = world();
    await Promise.all(Array.from({ length: 50 }, () => tables.holdAnswered(never)));
    expect(its.asked).toBe(1);
    for (let n = 0; n < 100; n++) {
      its.now += 10;
      await tables.holdAnswered(never);
    }
    await turns();
    // During a second of events the log is compared every 500 ms, not at each event.
    expect(its.asked).toBeLessThanOrEqual(3);
    const { asked } = its;
    its.now += 60_000;
    await turns();
    expect(its.asked).toBe(asked);
  });

  it('compared less than a second before an event may decide, because a command waits longer for this process', async () => {
    const { tables, its, watch } = world();
    await tables.holdAnswered(never);
    // This command is answered in 2 s at the earliest, because this process does not apply it.
    its.end = 2;
    its.now += 900;
    expect(await tables.holdAnswered(never)).toBe(true);
    its.now += 1_100;
    const later = watch(tables.holdAnswered(never));
    await turns();
    expect(later.is).toBeUndefined();
  });

  it('are compared for each event while a command may not wait for this process', async () => {
    const awaited: { since?: number } = {};
    const { tables, its, follow, watch } = world({ awaitedSince: () => awaited.since });
    await tables.holdAnswered(never);
    its.now += 10;
    its.end = 2;
    const waiting = watch(tables.holdAnswered(never));
    await turns();
    expect(waiting.is).toBeUndefined();
    follow(2);
    await turns();
    expect(waiting.is).toBe(true);
    // Commands began to wait for this process again just now.
    its.now += 10;
    awaited.since = its.now;
    its.now += 10;
    const { asked } = its;
    await tables.holdAnswered(never);
    expect(its.asked).toBe(asked + 1);
    its.now += 10;
    await tables.holdAnswered(never);
    expect(its.asked).toBe(asked + 1);
  });

  it('tell at once how far they are while a comparison counts, and compare again in time', async () => {
    const { tables, its, follow } = world();
    its.end = 5;
    expect(tables.heldNow()).toBeUndefined();
    await turns();
    expect(tables.heldNow()).toBeUndefined();
    follow(5);
    await turns();
    expect(tables.heldNow()).toBe(positionOf(5));
    // The log grows while the follower stands still.
    its.end = 6;
    its.now += 900;
    expect(tables.heldNow()).toBe(positionOf(5));
    await turns();
    its.now += 101;
    expect(tables.heldNow()).toBeUndefined();
    follow(6);
    await turns();
    expect(tables.heldNow()).toBe(positionOf(6));
  });

  it('hold all that was in the log only by a comparison begun after the question', async () => {
    const { tables, its, follow, watch } = world();
    its.end = 2;
    const first = watch(tables.holdAll(never));
    await turns();
    its.now += 1;
    its.end = 3;
    const second = watch(tables.holdAll(never));
    follow(2);
    await turns();
    expect([first.is, second.is]).toEqual([true, undefined]);
    follow(3);
    await turns();
    expect(second.is).toBe(true);
  });

  it('end the wait with false when the caller gives up', async () => {
    let over = false;
    const { tables, its, delays } = world({
      follower: { waitFor: () => new Promise((resolve) => setImmediate(() => resolve(false))) },
    });
    its.end = 9;
    const waiting = tables.holdAnswered(() => over);
    await new Promise((resolve) => setTimeout(resolve, 5));
    over = true;
    expect(await waiting).toBe(false);
    expect(delays).toEqual([`the tables have not reached log position ${positionOf(9)}`]);
  });

  it('go by what the other processes have reached while the log does not answer', async () => {
    const { tables, its, follow, watch, delays } = world({
      lastPosition: () => Promise.reject(new Error('no node answers')),
      highestReached: async () => positionOf(its.end),
    });
    its.end = 4;
    const waiting = watch(tables.holdAnswered(never));
    await turns();
    expect(waiting.is).toBeUndefined();
    follow(4);
    await turns();
    expect(waiting.is).toBe(true);
    its.now += 5_000;
    expect(await tables.holdAnswered(never)).toBe(true);
    expect(delays).toEqual(['no node answers']);
  });

  it('ask again when nobody answers, and tell it once', async () => {
    let failures = 0;
    const { tables, delays } = world({
      lastPosition: async () => {
        if (failures++ < 3) throw new Error('no node answers');
        return positionOf(1);
      },
    });
    expect(await tables.holdAnswered(never)).toBe(true);
    expect([failures, delays]).toEqual([4, ['no node answers']]);
  });
});
