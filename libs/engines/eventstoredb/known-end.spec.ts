import { describe, expect, it } from '@jest/globals';
import { positionOf, START, type Position, type RecordedEvent } from '#libs/kernel/events.js';
import { KnownEnd } from './known-end.js';

describe('the known end of the log', () => {
  /** The log backwards from `end`, with own events at `own`. `looked` counts the events that were looked at. */
  const log = (end: number, own: readonly number[]) => {
    const counts = { looked: 0 };
    async function* backwards(): AsyncGenerator<{ position: Position; event: RecordedEvent | undefined }> {
      for (let n = end; n > 0; n--) {
        counts.looked++;
        const position = positionOf(n);
        await Promise.resolve();
        yield { position, event: own.includes(n) ? ({ position } as RecordedEvent) : undefined };
      }
    }
    return { counts, backwards: backwards() };
  };

  it('is START without own events, and the newest own event otherwise', async () => {
    expect(await new KnownEnd().search(log(0, []).backwards)).toBe(START);
    expect(await new KnownEnd().search(log(50, []).backwards)).toBe(START);
    expect(await new KnownEnd().search(log(50, [3, 7]).backwards)).toBe(positionOf(7));
  });

  it('is not searched twice', async () => {
    const end = new KnownEnd();
    expect(await end.search(log(50, [3]).backwards)).toBe(positionOf(3));
    const later = log(60, [3]);
    expect(await end.search(later.backwards)).toBe(positionOf(3));
    expect(later.counts.looked).toBe(11);
    expect(await end.search(log(61, [3, 61]).backwards)).toBe(positionOf(61));
  });

  it('is searched only to where a reader has come, also one that comes meanwhile', async () => {
    const end = new KnownEnd();
    const stops = end.readerStarts();
    end.learn(positionOf(900), positionOf(3));
    const first = log(1_000, [3]);
    expect(await end.search(first.backwards)).toBe(positionOf(3));
    expect(first.counts.looked).toBe(101);
    const second = log(9_000, [3]);
    const searching = end.search(second.backwards);
    await new Promise((resolve) => setTimeout(resolve, 100));
    end.learn(positionOf(8_500), positionOf(3));
    expect(await searching).toBe(positionOf(3));
    expect(second.counts.looked).toBeLessThan(9_000);
    stops();
  });

  it('is searched on when a reader stands still or none is there', async () => {
    const end = new KnownEnd();
    const stops = end.readerStarts();
    expect(await end.search(log(1_500, [3]).backwards)).toBe(positionOf(3));
    stops();
    expect(await new KnownEnd().search(log(5_000, [3]).backwards)).toBe(positionOf(3));
  });
});
