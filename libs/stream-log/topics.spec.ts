import { describe, expect, it } from '@jest/globals';
import { perEmitterTopics, sharedTopics } from './topics.js';

const SETTINGS = { emitsAgeMs: 1, emitsBytes: 2 };
const CONSUMED = { dropConsumed: true };

describe('the topics of a workflow', () => {
  it('are its own under the layout per emitter, and its runs are dropped once they are in the history', () => {
    const topics = perEmitterTopics(SETTINGS);
    expect(topics.ownedBy('p_1')).toEqual([
      { topic: 'invocations.p_1', retention: CONSUMED, partitions: 1 },
      { topic: 'emits.p_1', retention: { ageMs: 1, bytes: 2 }, partitions: 1 },
      { topic: 'runs.p_1', retention: CONSUMED, partitions: 1 },
      { topic: 'messages.p_1', retention: CONSUMED, partitions: 1 },
    ]);
    expect(topics.runs('p_1')).toBe('runs.p_1');
    expect(topics.ownedBy('dc_1').map(({ topic }) => topic)).toEqual(['invocations.dc_1', 'emits.dc_1']);
    expect(topics.messages('p_1')).toBe('messages.p_1');
    expect(topics.retentionOf('runs.p_1')).toEqual(CONSUMED);
    expect(topics.retentionOf('messages.p_1')).toEqual(CONSUMED);
  });

  it('are those of all emitters under the shared layout', () => {
    const topics = sharedTopics(SETTINGS, 4);
    expect(topics.ownedBy('p_1')).toEqual([]);
    expect(topics.runs('p_1')).toBe('runs.shared');
    expect(topics.messages('p_1')).toBe('messages.shared');
    for (const topic of ['runs.shared', 'messages.shared'])
      expect(topics.fixed()).toContainEqual({ topic, retention: CONSUMED, partitions: 4 });
  });
});
