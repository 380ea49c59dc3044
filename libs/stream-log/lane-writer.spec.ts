import { describe, expect, it } from '@jest/globals';
import { eachAlone, laneFaults, LaneWriter } from './lane-writer.js';
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
  const lines: string[] = [];
  let failures = 0;
  const error = (fields: object, message: string): void => {
    lines.push(`${(fields as { err: Error }).err.message}: ${message}`);
  };
  const writer = new LaneWriter({
    log,
    pack: eachAlone,
    what: 'records',
    faults: laneFaults({ error }),
    onFailure: () => failures++,
  });
  const settled: string[] = [];
  const write = (topic: string, n: number, isWanted?: () => boolean): void =>
    writer.write({
      record: record(topic, n),
      settled: (offset) => settled.push(`${topic} ${n} at ${offset}`),
      ...(isWanted && { isWanted }),
    });
  const valuesOf = (topic: string): string[] => log.recordsOf(topic).map(({ value }) => value);
  const refusedTimes = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      await until(() => log.hangingOf('off') > 0);
      log.refuse('off');
    }
  };
  return { log, lines, failures: () => failures, writer, settled, write, valuesOf, refusedTimes };
};

/** Whether a promise resolves within a few turns of the event loop. */
const isResolved = async (promise: Promise<void>): Promise<boolean> => {
  let resolved = false;
  void promise.then(() => (resolved = true));
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  return resolved;
};

describe('the writer of lanes', () => {
  it('publishes what is written in one turn in one call', async () => {
    const { log, writer, write, settled } = await world();
    for (const n of [0, 1]) for (const topic of ['on', 'off', 'gone']) write(topic, n);
    await writer.idle();
    expect(log.published).toHaveLength(1);
    expect(settled.filter((each) => !each.startsWith('off'))).toEqual([
      'on 0 at 0',
      'on 1 at 1',
      'gone 0 at null',
      'gone 1 at null',
    ]);
  });

  it('holds back only the records of the topic that cannot be written, and keeps their order', async () => {
    const { log, writer, write, settled, valuesOf, refusedTimes } = await world();
    log.hang('off');
    for (let n = 0; n < 40; n++) {
      write('off', n);
      write('on', n);
      // One call at a time has records of a lane, so later records wait behind it.
      await until(() => valuesOf('on').length === n + 1);
      if (n === 20) log.refuse('off');
    }
    expect(valuesOf('on')).toEqual(numbers(40));
    expect(settled.filter((each) => each.startsWith('off'))).toEqual([]);
    await refusedTimes(2);
    await until(() => log.hangingOf('off') === 40);
    log.recover('off');
    await writer.idle();
    expect(valuesOf('off')).toEqual(numbers(40));
    expect(settled.filter((each) => each.startsWith('off'))).toEqual(
      Array.from({ length: 40 }, (_, n) => `off ${n} at ${n}`),
    );
  });

  it('publishes again only what failed', async () => {
    const { writer, write, valuesOf, log } = await world();
    const each = log.publishEach.bind(log);
    let calls = 0;
    log.publishEach = (records, settled) => {
      if (calls++ > 0) return each(records, settled);
      const [first] = log.append(records.slice(0, 1));
      settled(0, first ?? null);
      for (let index = 1; index < records.length; index++) settled(index, new Error('no leader'));
    };
    for (let n = 0; n < 5; n++) write('on', n);
    await writer.idle();
    expect(valuesOf('on')).toEqual(numbers(5));
  });

  it('logs once that a lane refuses its records, however often it does', async () => {
    const { log, writer, write, lines, failures, refusedTimes } = await world();
    log.hang('off');
    write('off', 0);
    await refusedTimes(3);
    log.recover('off');
    await writer.idle();
    expect(failures()).toBe(3);
    expect(lines).toEqual(['off has no leader: the log refuses records: they are published again until it takes them']);
  });

  it('drops records that are no longer wanted', async () => {
    const { log, writer, write, settled, valuesOf } = await world();
    log.hang('off');
    let isWanted = true;
    write('off', 0, () => isWanted);
    write('off', 1);
    await until(() => log.hangingOf('off') === 2);
    isWanted = false;
    log.refuse('off');
    await until(() => log.hangingOf('off') === 1);
    log.recover('off');
    await writer.idle();
    expect(settled).toEqual(['off 1 at 0']);
    expect(valuesOf('off')).toEqual(['1']);
  });
});

describe('the room of a writer of lanes', () => {
  it('is there once all is durable, and no longer waits for a lane that was late until the log takes its records', async () => {
    const { log, writer, write } = await world();
    write('on', 0);
    await writer.room(10);
    log.hang('off');
    write('off', 0);
    const first = writer.room(10);
    expect(await isResolved(first)).toBe(false);
    // Resolves after PATIENCE_MS.
    await first;
    write('off', 1);
    expect(await isResolved(writer.room(10))).toBe(true);
    log.hang('on');
    write('on', 1);
    expect(await isResolved(writer.room(10))).toBe(false);
    log.recover('on');
    log.recover('off');
    await writer.idle();
    log.hang('off');
    write('off', 2);
    expect(await isResolved(writer.room(10))).toBe(false);
  });

  it('waits again for a lane that is written again and has more records', async () => {
    const { log, writer, write, valuesOf } = await world();
    log.hang('off');
    // More than fit into one call.
    for (let n = 0; n < 600; n++) write('off', n);
    await until(() => log.hangingOf('off') > 0);
    log.refuse('off');
    expect(await isResolved(writer.room(1_000))).toBe(true);
    await until(() => log.hangingOf('off') > 0);
    log.recover('off');
    log.hang('off');
    expect(await isResolved(writer.room(1_000))).toBe(false);
    log.recover('off');
    await writer.idle();
    expect(valuesOf('off')).toEqual(numbers(600));
  });

  it('is not there while more records wait than it is asked for', async () => {
    const { log, writer, write } = await world();
    log.hang('off');
    for (let n = 0; n < 3; n++) write('off', n);
    await until(() => log.hangingOf('off') === 3);
    log.refuse('off');
    expect(await isResolved(writer.room(3))).toBe(true);
    const full = writer.room(2);
    expect(await isResolved(full)).toBe(false);
    log.recover('off');
    await full;
  });

  it('is there for a reader that waits when the writer stops', async () => {
    const { log, writer, write } = await world();
    log.hang('off');
    write('off', 0);
    const waiting = writer.room(0);
    void writer.stop(20_000);
    expect(await isResolved(waiting)).toBe(true);
    log.recover('off');
  });
});

describe('a writer of lanes that stops', () => {
  it('waits for what the log has, publishes what no call has had yet, and takes no more', async () => {
    const { log, writer, write, settled, valuesOf } = await world();
    log.hang('off');
    write('off', 0);
    await until(() => log.hangingOf('off') === 1);
    write('off', 1);
    const stopped = writer.stop(20_000);
    write('off', 2);
    expect(await isResolved(stopped)).toBe(false);
    log.recover('off');
    await stopped;
    expect(settled).toEqual(['off 0 at 0', 'off 1 at 1']);
    expect(valuesOf('off')).toEqual(['0', '1']);
  });

  it('publishes nothing again', async () => {
    const { log, writer, write, settled, refusedTimes } = await world();
    log.hang('off');
    write('off', 0);
    await refusedTimes(1);
    await until(() => log.hangingOf('off') === 1);
    write('off', 1);
    const stopped = writer.stop(20_000);
    log.refuse('off');
    await stopped;
    expect(log.hangingOf('off')).toBe(0);
    // A lane that waits for its next attempt ends at once.
    const other = await world();
    other.log.hang('off');
    other.write('off', 0);
    await other.refusedTimes(1);
    expect(await isResolved(other.writer.stop(20_000))).toBe(true);
    expect([settled, other.settled]).toEqual([[], []]);
  });

  it('ignores what the log answers after its time', async () => {
    const { log, writer, write, settled, valuesOf } = await world();
    log.hang('off');
    write('off', 0);
    write('off', 1);
    await until(() => log.hangingOf('off') === 2);
    await writer.stop(1);
    await writer.idle();
    log.recover('off');
    write('on', 0);
    await writer.idle();
    expect(settled).toEqual([]);
    expect(valuesOf('on')).toEqual([]);
  });
});
