import { describe, expect, it } from '@jest/globals';
import { eachAlone, PatientPublisher } from './patient-publisher.js';
import { type LogRecord } from './stream-log.js';
import { InMemoryStreamLog } from './testing/in-memory-stream-log.js';

const record = (topic: string, n: number): LogRecord => ({ topic, key: topic, headers: {}, value: String(n) });
const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));
const until = async (holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 2))) {
    if (Date.now() > end) throw new Error(`still waiting for ${holds.toString()}`);
  }
};

const world = async () => {
  const log = new InMemoryStreamLog();
  for (const topic of ['on', 'off']) await log.createTopic(topic);
  const failures: string[] = [];
  const publisher = new PatientPublisher({ log, pack: eachAlone, onFailure: ({ message }) => failures.push(message) });
  const settled: string[] = [];
  const push = (topic: string, n: number, isWanted?: () => boolean): void =>
    publisher.push({
      record: record(topic, n),
      settled: (offset) => settled.push(`${topic} ${n} at ${offset}`),
      ...(isWanted && { isWanted }),
    });
  const valuesOf = (topic: string): string[] => log.recordsOf(topic).map(({ value }) => value);
  return { log, failures, publisher, settled, push, valuesOf };
};

describe('the patient publisher', () => {
  it('publishes what is pushed in one turn in one call', async () => {
    const { log, publisher, push, settled } = await world();
    for (const n of [0, 1]) for (const topic of ['on', 'off', 'gone']) push(topic, n);
    await publisher.idle();
    expect(log.published).toHaveLength(1);
    expect(settled.filter((each) => !each.startsWith('off'))).toEqual([
      'on 0 at 0',
      'on 1 at 1',
      'gone 0 at null',
      'gone 1 at null',
    ]);
  });

  it('holds back only the records of the topic that cannot be written, and keeps their order', async () => {
    const { log, failures, publisher, push, settled, valuesOf } = await world();
    log.hang('off');
    for (let n = 0; n < 40; n++) {
      push('off', n);
      push('on', n);
      // One of them at a time is on its way, so what comes later waits behind it.
      await until(() => valuesOf('on').length === n + 1);
      if (n === 20) log.refuse('off');
    }
    expect(valuesOf('on')).toEqual(numbers(40));
    expect(settled.filter((each) => each.startsWith('off'))).toEqual([]);
    await until(() => log.hangingOf('off') > 1);
    log.recover('off');
    await publisher.idle();
    expect(valuesOf('off')).toEqual(numbers(40));
    expect(settled.filter((each) => each.startsWith('off'))).toEqual(
      Array.from({ length: 40 }, (_, n) => `off ${n} at ${n}`),
    );
    expect(failures).toEqual(['off has no leader']);
  });

  it('publishes again only what failed', async () => {
    const { publisher, push, valuesOf, log } = await world();
    const each = log.publishEach.bind(log);
    let calls = 0;
    log.publishEach = (records, settled) => {
      if (calls++ > 0) return each(records, settled);
      const [first] = log.append(records.slice(0, 1));
      settled(0, first ?? null);
      for (let index = 1; index < records.length; index++) settled(index, new Error('no leader'));
    };
    for (let n = 0; n < 5; n++) push('on', n);
    await publisher.idle();
    expect(valuesOf('on')).toEqual(numbers(5));
  });

  it('gives up what nobody wants any more, and the rest when it is abandoned', async () => {
    const { log, publisher, push, settled, valuesOf } = await world();
    log.hang('off');
    let isWanted = true;
    push('off', 0, () => isWanted);
    push('off', 1);
    await until(() => log.hangingOf('off') === 2);
    isWanted = false;
    log.refuse('off');
    await until(() => log.hangingOf('off') === 1);
    publisher.abandon();
    await publisher.idle();
    log.recover('off');
    push('on', 0);
    await publisher.idle();
    expect(settled).toEqual([]);
    expect(valuesOf('on')).toEqual([]);
  });
});
