import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type RunHistory } from '../run-history.js';

export interface HistoryCleanUpPorts {
  readonly runHistory: Pick<RunHistory, 'page' | 'remove'>;
}

const AT_ONCE = 100;

/** Removes the history of a deleted workflow. A repeat after a crash removes the rest. */
export class DeletedWorkflowRunsReactor implements Reactor {
  readonly name = 'workflow-history.clean-up.v1';
  readonly eventTypes: readonly string[] = ['WorkflowDeleted'];

  constructor(private readonly ports: HistoryCleanUpPorts) {}

  async handle({ stream }: RecordedEvent): Promise<void> {
    const { runHistory } = this.ports;
    for (;;) {
      const { runs } = await runHistory.page({ of: { workflowId: idOf(stream) }, limit: AT_ONCE });
      if (runs.length === 0) return;
      await runHistory.remove(runs.map(({ id }) => id));
    }
  }
}
