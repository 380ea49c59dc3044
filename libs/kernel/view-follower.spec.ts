import { describe, expect, it } from '@jest/globals';
import { type EventBatch } from './event-store.js';
import { positionOf, START, type RecordedEvent } from './events.js';
import { InMemoryEventStore } from './testing/in-memory-event-store.js';
import { Upcasters } from './upcasting.js';
import { ViewFollower } from './view-follower.js';

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
};

const metadata = {
  $correlationId: 'c',
  $causationId: 'c',
  commandId: 'c',
  workspaceId: 'o',
  schemaVersion: 1,
  actor: { userId: 'u', apiKeyId: null },
};
const event = (n: number) => ({ id: `e${n}`, type: 'Counted', data: { n }, metadata });

const following = (events = new InMemoryEventStore(), apply: (event: RecordedEvent) => void = () => undefined) => {
  const failures: string[] = [];
  const onFailure = (error: Error): void => void failures.push(error.message);
  const follower = new ViewFollower({ events, upcasters: new Upcasters(), views: [{ apply }], onFailure });
  return { events, follower, failures };
};

describe('the follower of the event log', () => {
  it('tells once that it stopped for good, at an event that a view cannot apply', async () => {
    const { events, follower, failures } = following(undefined, ({ data }) => {
      if ((data as { n: number }).n === 2) throw new Error('poison');
    });
    await events.append('counter-a', [event(1)], 'no_stream');
    await follower.start();
    await events.append('counter-a', [event(2), event(3)], 0n);
    await until(() => failures.length > 0);
    expect(failures).toEqual(['poison']);
    expect(follower.position()).toBe(positionOf(1));
    expect(follower.status().failure).toBe('poison');
    await follower.stop();
    expect(failures).toEqual(['poison']);
  });

  it('takes the end of its subscription for a failure, unless it was stopped', async () => {
    let end: () => void = () => undefined;
    class Ending extends InMemoryEventStore {
      override async *subscribe(): AsyncIterable<EventBatch> {
        yield { events: [], caughtUp: true, position: START };
        await new Promise<void>((resolve) => (end = resolve));
      }
    }
    const { follower, failures } = following(new Ending());
    await follower.start();
    end();
    await until(() => failures.length > 0);
    expect(failures).toEqual([`the event log ended its subscription at position ${START}`]);

    const stopped = following();
    await stopped.follower.start();
    await stopped.follower.stop();
    expect(stopped.failures).toEqual([]);
  });
});
