import { describe, expect, it } from '@jest/globals';
import { SETTINGS } from '#libs/config/index.js';
import { EVENT_BYTES, RECORD_BYTES } from '#libs/stream-log/record-limits.js';
import { topicSettings } from '../testing/topic-settings.js';
import { LARGEST_RECORD, verifyRecordSize } from './record-size.js';

const LIMIT = 'max.message.bytes';

const verified = async (
  topics: Readonly<Record<string, number>>,
  { request = 100 << 20, mayAlter = true }: { request?: number | undefined; mayAlter?: boolean } = {},
): Promise<readonly string[]> => {
  const { admin, altered } = topicSettings((name) => new Map([[LIMIT, String(topics[name])]]), mayAlter);
  await verifyRecordSize({
    cluster: {
      topics: () =>
        Object.keys(topics)
          .map((name) => ({ name, id: name, leaders: [1], copies: [1] }))
          .values(),
      warn: () => undefined,
    },
    admin,
    brokers: {
      read: () => Promise.resolve([{ broker: 3, values: new Map([['socket.request.max.bytes', String(request)]]) }]),
    },
    prefix: 'x.',
  });
  return altered;
};

describe('the largest record', () => {
  it('has room for the event of a body of full size, and for its error', () => {
    const fits = (kb: number): boolean => 2 * kb * 1024 < EVENT_BYTES;
    const largest = 3_500;
    expect([largest, largest + 100].map((kb) => [SETTINGS.maxBodyKb.parse(String(kb)).ok, fits(kb)])).toEqual([
      [true, true],
      [false, false],
    ]);
    // Texts of an error and its causes, each unit of which JSON may write as six bytes.
    expect(EVENT_BYTES + 6 * 49_664).toBeLessThan(RECORD_BYTES);
  });

  it('fits a document of MongoDB as JSON text in which each byte takes two', () => {
    expect(2 * RECORD_BYTES + 512 * 1024).toBeLessThan(16 << 20);
  });

  it('is made to fit topics that are ours, and no others', async () => {
    expect(await verified({ 'x.emits': 1_048_588, 'x.large': 16 << 20, 'y.other': 1 })).toEqual([
      `x.emits ${LIMIT}=${16 << 20}`,
    ]);
  });

  it('refuses the start with both numbers where a topic keeps its limit or a broker takes no such request', async () => {
    await expect(verified({ 'x.emits': 1_048_588 }, { mayAlter: false })).rejects.toThrow(
      new RegExp(`${LARGEST_RECORD} bytes .* topic x\\.emits takes 1048588 \\(max\\.message\\.bytes\\)`),
    );
    await expect(verified({}, { request: 5_000_000 })).rejects.toThrow(
      /broker 3 takes requests of 5000000 \(socket\.request\.max\.bytes\)/,
    );
  });
});
