import { type DueStore } from '#libs/due/due-store.js';
import { cancelRunsInvocation } from '#libs/stream-log/invocations.js';
import { createOwnedTopics, deleteOwnedTopics } from '#libs/stream-log/owned-topics.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type RunJournal } from '../run-journal.js';

export interface WorkflowTopicsDependencies {
  readonly log: Pick<StreamLog, 'createTopic' | 'deleteTopic' | 'publish'>;
  readonly topics: TopicPolicy;
  readonly journal: Pick<RunJournal, 'drop'>;
  readonly due: Pick<DueStore, 'removeOwner'>;
}

type CancelledRuns = Parameters<typeof cancelRunsInvocation>[1];

/** Creates and removes the topics, unfinished runs and alarms of a workflow. */
export const workflowTopics = ({ log, topics, journal, due }: WorkflowTopicsDependencies) => ({
  create: (workflowId: string): Promise<void> => createOwnedTopics(log, topics, workflowId),

  async cancelRuns(request: CancelledRuns): Promise<void> {
    await log.publish([cancelRunsInvocation(topics, request)]);
  },

  async remove(workflowId: string): Promise<void> {
    // The end of the topics revokes the lane, so no invocation arrives. A run that still executes finds no state.
    await deleteOwnedTopics(log, topics, workflowId);
    await journal.drop(workflowId);
    await due.removeOwner(workflowId);
  },
});
