import { describe, expect, it } from '@jest/globals';
import { foldLog } from './fold-log.js';
import { type StoredRecord } from './stream-log.js';
import { InMemoryStreamLog } from './testing/in-memory-stream-log.js';

describe('foldLog', () => {
  it('folds each lane of the topics with the prefix, from its applied offset to its end', async () => {
    const log = new InMemoryStreamLog();
    for (const topic of ['emits.dc_1', 'emits.dc_2', 'deliveries.wh_1']) {
      await log.createTopic(topic, {});
      await log.publish(['a', 'b', 'c'].map((value) => ({ topic, key: 'k', headers: {}, value })));
    }
    const [first] = await log.read('emits.dc_1', -1, 1);
    const folded: string[] = [];
    const fold = {
      appliedTo: async (lane: string) => (lane === 'emits.dc_1' ? (first?.offset ?? -1) : -1),
      apply: async (records: readonly StoredRecord[]) => {
        for (const { lane, value } of records) folded.push(`${lane} ${value}`);
        return records.length;
      },
    };
    const progress: number[] = [];
    await foldLog(log, 'emits.', fold, (records) => progress.push(records));
    expect(folded.sort()).toEqual(['emits.dc_1 b', 'emits.dc_1 c', 'emits.dc_2 a', 'emits.dc_2 b', 'emits.dc_2 c']);
    expect(progress.reduce((sum, each) => sum + each, 0)).toBe(5);
  });
});
