import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type WorkflowChanged, type WorkflowEvent, type WorkflowTopics } from './published.js';

export interface CancelRunsPorts {
  readonly workflowTopics: Pick<WorkflowTopics, 'cancelRuns'>;
}

/** Has the runs of a workflow cancelled that was deactivated with `cancel_runs`. */
export class CancelRunsReactor implements Reactor {
  readonly name = 'workflows.cancel-runs.v1';
  readonly eventTypes: readonly WorkflowEvent['type'][] = ['WorkflowChanged'];

  constructor(private readonly ports: CancelRunsPorts) {}

  async handle(event: RecordedEvent): Promise<void> {
    const { changedAt: now, cancelsRuns } = (event as RecordedEvent<WorkflowChanged>).data;
    if (cancelsRuns !== true) return;
    const { workspaceId, actor: by } = event.metadata;
    const request = { workflowId: idOf(event.stream), workspaceId, by, cause: event.id, now };
    await this.ports.workflowTopics.cancelRuns(request);
  }
}
