import { type DueStore } from '#libs/due/due-store.js';
import { createOwnedTopics, deleteOwnedTopics } from '#libs/stream-log/owned-topics.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type RunJournal } from '../run-journal.js';

export interface WorkflowTopicsDependencies {
  readonly log: Pick<StreamLog, 'createTopic' | 'deleteTopic'>;
  readonly topics: Pick<TopicPolicy, 'ownedBy'>;
  readonly journal: Pick<RunJournal, 'drop'>;
  readonly due: Pick<DueStore, 'removeOwner'>;
}

/** Creates and removes the topics, unfinished runs and alarms of a workflow. */
export const workflowTopics = ({ log, topics, journal, due }: WorkflowTopicsDependencies) => ({
  create: (workflowId: string): Promise<void> => createOwnedTopics(log, topics, workflowId),

  async remove(workflowId: string): Promise<void> {
    // The end of the topics revokes the lane, so no invocation arrives. A run that still executes finds no state.
    await deleteOwnedTopics(log, topics, workflowId);
    await journal.drop(workflowId);
    await due.removeOwner(workflowId);
  },
});
