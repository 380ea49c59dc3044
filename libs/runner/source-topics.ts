import { type TickStore } from '../scheduling/tick-store.js';
import { type SourceTopics } from '../sources/published.js';
import { type StreamLog } from '../stream-log/stream-log.js';
import { type TopicPolicy } from '../stream-log/topics.js';
import { type RunJournal } from './run-journal.js';

export interface SourceTopicsDependencies {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly journal: RunJournal;
  readonly ticks: TickStore;
  /** Ends the source's process; nothing of it is written afterwards. */
  readonly forget: (sourceId: string) => Promise<void>;
}

/** What the data plane holds of a source comes and goes with it. */
export const sourceTopics = ({ log, topics, journal, ticks, forget }: SourceTopicsDependencies): SourceTopics => ({
  async create(sourceId) {
    for (const { topic, retention, partitions } of topics.ownedBy(sourceId)) {
      await log.createTopic(topic, retention, partitions);
    }
  },

  async remove(sourceId) {
    // The lane is revoked first: no new invocation reaches the runner, then the runner lets go, then its state goes.
    for (const { topic } of topics.ownedBy(sourceId)) await log.deleteTopic(topic);
    await forget(sourceId);
    await journal.drop(sourceId);
    await ticks.drop(sourceId);
  },
});
