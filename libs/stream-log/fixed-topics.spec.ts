import { afterEach, describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/config/index.js';
import { type RunningWork } from '#libs/kernel/leased-work.js';
import { InMemoryStreamLog } from './testing/in-memory-stream-log.js';
import { topicPolicy } from '#libs/composition/topic-policy.js';
import { createFixedTopics, keepFixedTopics } from './fixed-topics.js';

let keeping: RunningWork | undefined;
afterEach(() => keeping?.stop());

// docs/adr/0011
describe.each(['per_emitter', 'shared'])('the fixed topics of the layout %s', (layout) => {
  it('are created again after a deletion, with a log line for each', async () => {
    const log = new InMemoryStreamLog();
    const topics = topicPolicy(loadConfig({ SLUICE_TOPICS: layout, SLUICE_SMTP_URL: 'smtp://m.example.com' }));
    await createFixedTopics(log, topics);
    const said: string[] = [];
    keeping = keepFixedTopics(
      log,
      topics,
      { error: (fields: object) => void said.push((fields as { topic: string }).topic) },
      1,
    );
    const all = topics.fixed().map(({ topic }) => topic);
    for (const topic of all) await log.deleteTopic(topic);
    while ((await log.topics('')).length < all.length) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([...said].sort()).toEqual([...all].sort());
  });
});
