import { describe, expect, it } from '@jest/globals';
import { perEmitterTopics } from '#libs/stream-log/topics.js';
import { workflowTopics } from './workflow-topics.js';

describe('the topics of a workflow', () => {
  it('are made with it, and go before its runs and alarms do', async () => {
    const done: string[] = [];
    const note =
      (what: string) =>
      async (id: string): Promise<void> =>
        void done.push(`${what} ${id}`);
    const of = workflowTopics({
      log: { createTopic: note('create'), deleteTopic: note('delete'), publish: async () => [] },
      topics: perEmitterTopics({ emitsAgeMs: 1, emitsBytes: 1 }),
      journal: { drop: note('drop') },
      due: { removeOwner: note('alarms') },
    });
    await of.create('p_1');
    const topics = ['invocations.p_1', 'emits.p_1', 'runs.p_1', 'messages.p_1'];
    expect(done.splice(0).sort()).toEqual(topics.map((topic) => `create ${topic}`).sort());
    await of.remove('p_1');
    expect(done.slice(0, 4).sort()).toEqual(topics.map((topic) => `delete ${topic}`).sort());
    expect(done.slice(4)).toEqual(['drop p_1', 'alarms p_1']);
  });
});
