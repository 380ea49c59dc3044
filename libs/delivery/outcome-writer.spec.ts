import { afterEach, describe, expect, it } from '@jest/globals';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { OutcomeWriter } from './outcome-writer.js';
import { InMemoryRetrySchedule } from './testing/in-memory-retry-schedule.js';
import { until } from './testing/worker-harness.js';

const attempt = (topic: string, key: string): LogRecord => ({ topic, key, headers: {}, value: key });
const waiting = (key: string) => ({ id: key, owner: 'wh_1', dueAt: 1, record: attempt('deliveries.wh_1', key) });

const writers: OutcomeWriter[] = [];
afterEach(() => {
  for (const writer of writers.splice(0)) writer.abandon();
});

const world = async () => {
  const log = new InMemoryStreamLog();
  for (const topic of ['attempts', 'attempts-2']) await log.createTopic(topic);
  const schedule = new InMemoryRetrySchedule();
  const failures: string[] = [];
  const nothing = (): void => undefined;
  const writer = new OutcomeWriter({
    log,
    schedule,
    logger: { info: nothing, warn: nothing, error: (_: object, message: string) => void failures.push(message) },
    onFailure: nothing,
    onScheduled: nothing,
  });
  writers.push(writer);
  const durable: string[] = [];
  const push = (key: string, topic: string, retries = false): void =>
    writer.push({
      attempt: attempt(topic, key),
      durable: () => durable.push(key),
      ...(retries && { waiting: waiting(key) }),
    });
  return { log, schedule, failures, writer, durable, push };
};

describe('the outcomes of deliveries, while the attempts of some cannot be written', () => {
  it('schedule their next attempts, write the other attempts, and acknowledge only what is durable', async () => {
    const { log, schedule, failures, writer, durable, push } = await world();
    log.hang('attempts');
    push('a', 'attempts', true);
    push('b', 'attempts-2');
    await until(() => durable.length === 1);
    // A group of its own, while the first one is on its way.
    push('c', 'attempts', true);
    push('d', 'attempts-2', true);
    await until(() => durable.length === 2);
    expect(durable).toEqual(['b', 'd']);
    expect([...schedule.entries.keys()]).toEqual(['a', 'c', 'd']);
    log.refuse('attempts');
    await until(() => log.hangingOf('attempts') === 2);
    expect(failures).toContain('cannot write delivery results to the log');
    log.recover('attempts');
    await writer.idle();
    expect(durable).toEqual(['b', 'd', 'a', 'c']);
    expect(log.recordsOf('attempts').map(({ value }) => value)).toEqual(['a', 'c']);
    expect(log.recordsOf('attempts-2').map(({ value }) => value)).toEqual(['b', 'd']);
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
