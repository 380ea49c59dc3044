import { type DueStore } from '#libs/due/due-store.js';
import { type TickStore } from '#libs/scheduling/tick-store.js';
import { type SourceTopics } from '#libs/sources/published.js';
import { type DelayedEvents } from '#libs/stream-log/delayed-events.js';
import { createOwnedTopics, deleteOwnedTopics } from '#libs/stream-log/owned-topics.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type RunJournal } from '../run-journal.js';

export interface SourceTopicsDependencies {
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly journal: RunJournal;
  readonly ticks: TickStore;
  readonly delayed: Pick<DelayedEvents, 'removeRange'>;
  readonly due: Pick<DueStore, 'removeOwner'>;
  /** Ends the source's process, after which the source writes nothing. */
  readonly forget: (sourceId: string) => Promise<void>;
}

/** Creates and removes a source's topics, journal, ticks and delayed events together with the source. */
export const sourceTopics = ({
  log,
  topics,
  journal,
  ticks,
  delayed,
  due,
  forget,
}: SourceTopicsDependencies): SourceTopics => ({
  create: (sourceId) => createOwnedTopics(log, topics, sourceId),

  async remove(sourceId) {
    // Deleting the topic revokes the lane, so no new invocation arrives. Then the runner ends, and last the state.
    await deleteOwnedTopics(log, topics, sourceId);
    await forget(sourceId);
    await journal.drop(sourceId);
    await ticks.drop(sourceId);
    await delayed.removeRange(sourceId, {});
    await due.removeOwner(sourceId);
  },
});
