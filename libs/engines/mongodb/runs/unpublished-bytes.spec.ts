import { describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { OutboxRelay } from './outbox-relay.js';
import { UnpublishedBytes } from './unpublished-bytes.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('bytes that wait for the log', () => {
  it('of one source hold up the commits of all, until they are published', async () => {
    const log = new InMemoryStreamLog();
    let publish: () => void = () => undefined;
    log.beforePublish = () => new Promise((resolve) => (publish = resolve));
    const closing = new AbortController();
    const unpublished = new UnpublishedBytes(1_000, closing.signal);
    const relay = (): OutboxRelay =>
      new OutboxRelay(
        log,
        unpublished,
        closing.signal,
        () => undefined,
        () => undefined,
      );
    const [full, other] = [relay(), relay()];
    const record = { topic: 't', key: 'k', headers: {}, value: '' };
    full.add([{ seq: 1, records: [record], bytes: 1_001, token: undefined }]);
    let hasRoom = false;
    const waiting = other.below(4_000).then(() => (hasRoom = true));
    await turn();
    expect(hasRoom).toBe(false);
    publish();
    await waiting;
    // The records are in the log. Their numbers are still needed.
    expect(full.published()).toEqual([{ seq: 1, records: [], bytes: 1_001, token: undefined }]);
  });

  it('count no more once they are discarded, and a closing journal waits for nothing', async () => {
    const closing = new AbortController();
    const unpublished = new UnpublishedBytes(1_000, closing.signal);
    unpublished.add(1_500);
    unpublished.remove(1_500);
    await unpublished.room();
    unpublished.add(1_001);
    const waiting = unpublished.room();
    closing.abort();
    await expect(waiting).rejects.toThrow('the run journal is closed');
  });
});
