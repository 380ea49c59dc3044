import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type Vault } from '#libs/kernel/vault.js';
import {
  type WorkflowDeployed,
  type WorkflowDraftSaved,
  type WorkflowEvent,
  type WorkflowTopics,
} from '../published.js';

export interface WorkflowCleanUpPorts {
  readonly events: EventStore;
  readonly vault: Pick<Vault, 'delete'>;
  readonly blobs: Pick<BlobStore, 'delete'>;
  readonly workflowTopics: Pick<WorkflowTopics, 'remove'>;
  /** Last ticks of timers. */
  readonly ticks: { drop(workflowId: string): Promise<void> };
}

/**
 * Removes the topics, unfinished runs, ticks, secrets, versions and drafts of a deleted workflow. A repeat after a crash removes the
 * rest.
 */
export class WorkflowCleanUpReactor implements Reactor {
  readonly name = 'workflows.clean-up.v1';
  readonly eventTypes: readonly WorkflowEvent['type'][] = ['WorkflowDeleted'];

  constructor(private readonly ports: WorkflowCleanUpPorts) {}

  async handle({ stream }: RecordedEvent): Promise<void> {
    const { events, vault, blobs, workflowTopics, ticks } = this.ports;
    await workflowTopics.remove(idOf(stream));
    await ticks.drop(idOf(stream));
    for await (const event of events.read(stream)) {
      if (!hasVersion(event)) continue;
      for (const ref of event.data.secretRefs) await vault.delete(ref);
      await blobs.delete(event.data.versionHash);
    }
  }
}

const hasVersion = (event: RecordedEvent): event is RecordedEvent<WorkflowDeployed | WorkflowDraftSaved> =>
  event.type === 'WorkflowDeployed' || event.type === 'WorkflowDraftSaved';
