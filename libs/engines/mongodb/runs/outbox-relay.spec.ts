import { describe, expect, it } from '@jest/globals';
import { type LogRecord } from '#libs/stream-log/stream-log.js';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { OutboxRelay } from './outbox-relay.js';
import { UnpublishedBytes } from './unpublished-bytes.js';

describe('the relay of an outbox', () => {
  it('publishes again only what failed, before what was committed later', async () => {
    const log = new InMemoryStreamLog();
    for (const topic of ['a', 'b']) await log.createTopic(topic);
    const closing = new AbortController();
    const failures: string[] = [];
    let published = 0;
    const relay = new OutboxRelay(
      log,
      new UnpublishedBytes(1_000_000, closing.signal),
      closing.signal,
      () => published++,
      (error) => failures.push(String(error)),
    );
    const record = (topic: string, value: string): LogRecord => ({ topic, key: topic, headers: {}, value });
    const commit = (seq: number) => ({
      seq,
      records: [record('a', `a${seq}`), record('b', `b${seq}`)],
      bytes: 1,
      token: undefined,
    });
    log.hang('b');
    relay.add([commit(1)]);
    log.refuse('b');
    relay.add([commit(2)]);
    while (failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
    log.recover('b');
    await relay.ended();
    const valuesOf = (topic: string): string[] => log.recordsOf(topic).map(({ value }) => value);
    expect(valuesOf('a')).toEqual(['a1', 'a2']);
    expect(valuesOf('b')).toEqual(['b1', 'b2']);
    expect(failures).toEqual(['Error: b has no leader']);
    expect(relay.published().map(({ seq }) => seq)).toEqual([1, 2]);
    expect(published).toBeGreaterThan(0);
  });
});
