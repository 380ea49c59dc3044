import { describe, expect, it } from '@jest/globals';
import { InMemoryStreamLog } from '#libs/stream-log/testing/in-memory-stream-log.js';
import { perEmitterTopics, sharedTopics } from '#libs/stream-log/topics.js';
import { type Holdings } from './ports.js';
import { WaitingWork, type WaitingWorkOptions } from './waiting-work.js';

const KEPT = { emitsAgeMs: 1e12, emitsBytes: 1e9 };
const topics = perEmitterTopics(KEPT);

const HOLDINGS: Holdings = {
  sources: [
    { id: 'dc_a', name: 'A' },
    { id: 'dc_b', name: 'B' },
  ],
  workflowIds: ['p_a'],
  webhooks: ['wh_a', 'wh_b'].map((id) => ({ id, name: null, disabledReason: null, updatedAt: 0 })),
};

const world = (over: Partial<WaitingWorkOptions> = {}) => {
  const log = new InMemoryStreamLog();
  const time = { now: 0 };
  const counts: Record<string, number> = {};
  const readings: string[] = [];
  const options: WaitingWorkOptions = {
    log: {
      lag: (group, selected) => {
        readings.push(group);
        return log.lag(group, selected);
      },
      committed: (...asked) => log.committed(...asked),
      read: (...asked) => log.read(...asked),
    },
    topics,
    deliveries: { of: async (ids) => ids.map((id) => counts[id] ?? 0) },
    here: undefined,
    now: () => time.now,
    ...over,
  };
  const put = async (topic: string, records: number): Promise<void> => {
    await log.createTopic(topic, {});
    await log.publish(
      Array.from({ length: records }, (_, i) => ({ topic, key: 'k', headers: { id: `${i}` }, value: '1' })),
    );
  };
  return { log, time, counts, readings, put, waiting: new WaitingWork(options) };
};

describe('what waits in a workspace', () => {
  it('is what its own sources, workflows and webhooks have in the log, read once in 5 s for all workspaces', async () => {
    const { waiting, put, counts, readings, time } = world();
    await put('invocations.dc_a', 3);
    await put('invocations.p_a', 1);
    await put('invocations.dc_other', 9);
    await put('emits.dc_b', 2);
    await put('emits.o_1', 1);
    counts['wh_b'] = 4;
    counts['wh_other'] = 9;
    const first = await waiting.of('o_1', HOLDINGS);
    expect(first).toEqual({
      waiting: { invocations: 4, emits: 3, deliveries: 4, oldestAt: null },
      webhookIds: ['wh_b'],
    });
    await put('invocations.dc_a', 1);
    time.now = 4_999;
    expect(await waiting.of('o_1', HOLDINGS)).toEqual(first);
    expect((await waiting.of('o_2', { sources: [], workflowIds: [], webhooks: [] })).waiting.invocations).toBe(0);
    expect(readings).toEqual(['runner', 'router']);
    time.now = 5_000;
    expect((await waiting.of('o_1', HOLDINGS)).waiting.invocations).toBe(5);
  });

  it('is what the roles of this process know, with the time of the oldest', async () => {
    const here = { waitingFor: (id: string) => (id === 'dc_a' ? 2 : 0), unroutedOf: (id: string) => +(id === 'dc_b') };
    const { waiting, put, log, readings } = world({ here });
    await put('emits.dc_b', 1);
    await put('invocations.dc_a', 2);
    const [lane] = await log.read('emits.dc_b', -1, 1);
    const found = await waiting.of('o_1', HOLDINGS);
    expect(found.waiting).toEqual({ invocations: 2, emits: 1, deliveries: 0, oldestAt: lane?.timestamp });
    expect(readings).toEqual([]);
  });

  it('has no oldest when nothing waits, nor when too many lanes would be read', async () => {
    const one = world({ here: { waitingFor: () => 0, unroutedOf: () => 0 } });
    expect((await one.waiting.of('o_1', HOLDINGS)).waiting).toMatchObject({ invocations: 0, oldestAt: null });
    const many = world({ here: { waitingFor: () => 1, unroutedOf: () => 0 } });
    const sources = Array.from({ length: 101 }, (_, i) => ({ id: `dc_${i}`, name: 'S' }));
    for (const { id } of sources) await many.put(`invocations.${id}`, 1);
    const found = await many.waiting.of('o_1', { ...HOLDINGS, sources });
    expect(found.waiting).toMatchObject({ invocations: 102, oldestAt: null });
  });

  it('is not known where resources share their lanes, but for deliveries', async () => {
    const { waiting, counts, readings } = world({ topics: sharedTopics(KEPT, 4) });
    counts['wh_a'] = 1;
    expect((await waiting.of('o_1', HOLDINGS)).waiting).toEqual({
      invocations: null,
      emits: null,
      deliveries: 1,
      oldestAt: null,
    });
    expect(readings).toEqual([]);
  });
});
