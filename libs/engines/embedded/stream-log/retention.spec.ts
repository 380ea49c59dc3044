import { describe, expect, it } from '@jest/globals';
import { type EmbeddedEngines } from '../index.js';
import { enginesForEach } from '../testing/engines-for-each.js';

const installation = enginesForEach('retention');
const engines = (ahead = { ms: 0 }): Promise<EmbeddedEngines> =>
  installation.open({ clock: { now: () => Date.now() + ahead.ms } });

describe('retention', () => {
  const limits = { ageMs: 1_000, bytes: 1_000 };
  const fill = async (log: EmbeddedEngines['log']): Promise<void> => {
    await log.createTopic('t', limits);
    const consumer = await log.consume({
      group: 'g',
      topics: { names: ['t'] },
      maxBatch: 1,
      maxUnacked: 1,
      handler: () => Promise.resolve(),
    });
    for (let n = 0; n < 20; n++) await log.publish([{ topic: 't', key: 'k', headers: {}, value: 'x'.repeat(200) }]);
    await consumer.close();
  };
  const left = async (log: EmbeddedEngines['log']): Promise<number> => (await log.read('t', -1, 100)).length;

  it('keeps unread records however long the server was down, until consumers had time to connect', async () => {
    const first = await engines();
    await fill(first.log);
    await first.close();
    const ahead = { ms: 30 * 24 * 3_600_000 };
    const later = await engines(ahead);
    await later.sweep();
    expect(await left(later.log)).toBe(20);
    // Control: no consumer reads for the group while the log is open, so it counts as removed and the limits apply.
    ahead.ms += 2 * 3_600_000;
    await later.sweep();
    expect(await left(later.log)).toBe(0);
  });

  it('counts the whole record, so the byte limit also holds for a lane with large headers', async () => {
    const { log, sweep } = await engines();
    await log.createTopic('t', { bytes: 10_000 });
    const publish = async (): Promise<void> => {
      const headers = { id: 'x'.repeat(900) };
      for (let n = 0; n < 50; n++) await log.publish([{ topic: 't', key: 'k', headers, value: '1' }]);
    };
    for (let round = 0; round < 4; round++) {
      await publish();
      await sweep();
      expect(await left(log)).toBeLessThanOrEqual(11);
    }
  });
});
