import { afterEach, describe, expect, it } from '@jest/globals';
import { type Attempt, attemptsOf, packAttempts } from '#libs/stream-log/attempt-records.js';
import { attemptAt } from '#libs/stream-log/testing/attempts.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { OutcomeWriter } from './outcome-writer.js';
import { InMemoryDueStore } from '#libs/due/testing/in-memory-due-store.js';
import { until } from './testing/worker-harness.js';

const retry = { key: 'wh_1', headers: {}, value: '' };
const waiting = (delivery: string) => ({
  id: delivery,
  owner: 'wh_1',
  kind: 'delivery' as const,
  dueAt: 1,
  record: retry,
});

const writers: OutcomeWriter<Attempt>[] = [];
afterEach(() => {
  for (const writer of writers.splice(0)) writer.abandon();
});

const world = async () => {
  const log = new InMemoryStreamLog();
  for (const topic of ['attempts', 'attempts-2']) await log.createTopic(topic);
  const due = new InMemoryDueStore();
  const failures: string[] = [];
  const nothing = (): void => undefined;
  const writer = new OutcomeWriter({
    log,
    due,
    pack: packAttempts,
    what: 'attempts',
    logger: { info: nothing, warn: nothing, error: (_: object, message: string) => void failures.push(message) },
    onFailure: nothing,
  });
  writers.push(writer);
  const durable: string[] = [];
  const push = (delivery: string, topic: string, retries = false): void =>
    writer.push({
      attempt: attemptAt(1, { topic, delivery }),
      durable: () => durable.push(delivery),
      waiting: retries ? waiting(delivery) : undefined,
    });
  /** The deliveries of each record. */
  const recordsOf = (topic: string): string[] =>
    log.recordsOf(topic).map((record) =>
      attemptsOf(record)
        .map(({ delivery }) => delivery)
        .join(' '),
    );
  return { log, due, failures, writer, durable, push, recordsOf };
};

describe('the outcomes of deliveries, while the attempts of some cannot be written', () => {
  it('schedule their next attempts, write the other attempts, and acknowledge only what is durable', async () => {
    const { log, due, failures, writer, durable, push, recordsOf } = await world();
    log.hang('attempts');
    push('a', 'attempts', true);
    push('b', 'attempts-2');
    await until(() => durable.length === 1);
    // This starts a group of its own while the first one is in flight.
    push('c', 'attempts', true);
    push('d', 'attempts-2', true);
    await until(() => durable.length === 2);
    expect(durable).toEqual(['b', 'd']);
    expect([...due.entries.keys()]).toEqual(['a', 'c', 'd']);
    log.refuse('attempts');
    await until(() => log.hangingOf('attempts') === 1);
    expect(failures).toEqual(['the log refuses attempts: they are published again until it takes them']);
    log.recover('attempts');
    await writer.idle();
    expect(durable).toEqual(['b', 'd', 'a', 'c']);
    expect(recordsOf('attempts')).toEqual(['a c']);
    expect(recordsOf('attempts-2')).toEqual(['b', 'd']);
  });

  it('acknowledge nothing more once they are abandoned', async () => {
    const { log, writer, durable, push } = await world();
    log.hang('attempts');
    push('a', 'attempts');
    await until(() => log.hangingOf('attempts') === 1);
    writer.abandon();
    await writer.idle();
    log.recover('attempts');
    expect(durable).toEqual([]);
  });
});

describe('the attempts of a webhook that wait for the same write', () => {
  it('are one record, and each delivery is acknowledged once that is durable', async () => {
    const { log, writer, durable, push, recordsOf } = await world();
    log.hang('attempts');
    push('a', 'attempts');
    await until(() => log.hangingOf('attempts') === 1);
    for (const delivery of ['b', 'c', 'd']) push(delivery, 'attempts');
    await new Promise((resolve) => setImmediate(resolve));
    expect(durable).toEqual([]);
    log.recover('attempts');
    await writer.idle();
    expect(recordsOf('attempts')).toEqual(['a', 'b c d']);
    expect(durable).toEqual(['a', 'b', 'c', 'd']);
  });
});
