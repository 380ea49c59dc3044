import { describe, expect, it } from '@jest/globals';
import { perEmitterTopics, sharedTopics, type TopicPolicy } from './topics.js';
import { UnreadLimits } from './unread-limits.js';

const MB = 1024 * 1024;
const RETENTION = { emitsAgeMs: 1, emitsBytes: 1 };

const world = (topics: TopicPolicy = perEmitterTopics(RETENTION)) => {
  const unread = new Map<string, number>();
  const time = { now: 0 };
  let asked = 0;
  const sources = new Map([
    ['dc_a', { workspaceId: 'o_1' }],
    ['dc_b', { workspaceId: 'o_1' }],
    ['dc_c', { workspaceId: 'o_2' }],
  ]);
  const limits = new UnreadLimits({
    topics,
    settings: { laneBytes: 10 * MB, emitsBytes: 20 * MB, workspaceBytes: 30 * MB },
    sources: () => (asked++, sources),
    now: () => time.now,
  });
  const of = (lane: string): number => unread.get(lane) ?? 0;
  limits.count({ invocations: of, emits: of, deliveries: of, waiting: of });
  return { limits, unread, time, asked: () => asked };
};

describe('limits on unread bytes', () => {
  it('of a source refuse its arrivals and no others, naming the full resource and the limit', () => {
    const { limits, unread } = world();
    unread.set('invocations.dc_a', 10 * MB);
    expect(limits.refusal('dc_a', 'o_1')).toBeUndefined();
    unread.set('invocations.dc_a', 11.5 * MB);
    expect(limits.refusal('dc_a', 'o_1')).toEqual({
      status: 429,
      code: 'unread_limit',
      retryAfterS: 5,
      text: expect.stringMatching(
        /^events that wait for this source hold 12 MB .* above the limit of 10 MB: send again/,
      ),
    });
    expect(limits.refusal('dc_b', 'o_1')).toBeUndefined();
    expect(limits.isPaused('dc_a')).toBe(false);
  });

  it('of a source’s emits pause it too', () => {
    const { limits, unread } = world();
    unread.set('emits.dc_a', 21 * MB);
    expect(limits.isPaused('dc_a')).toBe(true);
    expect(limits.isPaused('dc_b')).toBe(false);
    expect(limits.refusal('dc_a', 'o_1')?.text).toContain('events that this source emitted');
  });

  it('of a workspace sum over its sources at most once a second, however many requests arrive', () => {
    const { limits, unread, time, asked } = world();
    for (const lane of ['invocations.dc_a', 'invocations.dc_b']) unread.set(lane, 9 * MB);
    unread.set('emits.dc_b', 15 * MB);
    for (let i = 0; i < 1_000; i++) {
      expect(limits.refusal('dc_b', 'o_1')?.text).toContain(
        'events of this source, of 33 MB in its workspace, whose limit is 30 MB for 2 sources, hold 24 MB',
      );
    }
    // The source is below its share of 15 MB.
    expect(limits.refusal('dc_a', 'o_1')).toBeUndefined();
    expect(limits.refusal('dc_c', 'o_2')).toBeUndefined();
    expect(asked()).toBe(1);
    unread.clear();
    time.now = 1_000;
    expect(limits.refusal('dc_b', 'o_1')).toBeUndefined();
    expect(asked()).toBe(2);
  });

  it('of a listener make the router hold back its events', () => {
    const { limits, unread } = world();
    unread.set('deliveries.wh_1', 11 * MB);
    unread.set('invocations.dc_a', 11 * MB);
    unread.set('emits.dc_a', 11 * MB);
    const topics = ['deliveries.wh_1', 'deliveries.wh_2', 'invocations.dc_a', 'invocations.dc_b', 'emits.dc_a'];
    expect(topics.filter((topic) => limits.isFull(topic))).toEqual(['deliveries.wh_1', 'invocations.dc_a']);
  });

  it('of a webhook count its lane and its waiting retries together', () => {
    const { limits, unread } = world();
    unread.set('deliveries.wh_1', 6 * MB);
    expect(limits.isFull('deliveries.wh_1')).toBe(false);
    unread.set('wh_1', 5 * MB);
    expect(limits.isFull('deliveries.wh_1')).toBe(true);
    expect(limits.isFull('deliveries.wh_2')).toBe(false);
    unread.delete('deliveries.wh_1');
    unread.set('wh_1', 10.5 * MB);
    expect(limits.isFull('deliveries.wh_1')).toBe(true);
  });

  it('do not apply to a lane that sources share', () => {
    const { limits, unread } = world(sharedTopics(RETENTION, 1));
    for (const kind of ['invocations', 'emits', 'deliveries']) unread.set(`${kind}.shared`, 100 * MB);
    expect([limits.refusal('dc_a', 'o_1'), limits.isPaused('dc_a'), limits.isFull('invocations.shared')]).toEqual([
      undefined,
      false,
      false,
    ]);
  });
});
