import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName } from '#libs/kernel/events.js';
import { workflowDecider } from './domain/workflow.js';

/** Tells changes of workflows that are made from those that never will be. */
export const workflowChanges = (events: Pick<EventStore, 'read'>) => ({
  /** Whether the stream of the workflow has the event of this command. */
  async isMade(workflowId: string, commandId: string): Promise<boolean> {
    const stream = streamName(workflowDecider.category, workflowId);
    for await (const { metadata } of events.read(stream, { direction: 'backwards' }))
      if (metadata.commandId === commandId) return true;
    return false;
  },
});
