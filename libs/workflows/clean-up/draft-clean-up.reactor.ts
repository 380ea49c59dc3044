import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Reactor } from '#libs/kernel/reactor.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type WorkflowDraft, type WorkflowEvent } from '../published.js';

export interface DraftCleanUpPorts {
  readonly events: EventStore;
  readonly vault: Pick<Vault, 'delete'>;
  readonly blobs: Pick<BlobStore, 'delete'>;
}

/**
 * Removes the blob of a draft that was replaced or discarded, and its secrets, but those that a version or the present
 * draft uses. A change that was made from a draft is refused once that is gone, so nothing begins to use them again.
 */
export class DraftCleanUpReactor implements Reactor {
  readonly name = 'workflows.drafts.clean-up.v1';
  readonly eventTypes: readonly WorkflowEvent['type'][] = ['WorkflowDraftSaved', 'WorkflowDraftDiscarded'];

  constructor(private readonly ports: DraftCleanUpPorts) {}

  async handle({ stream, revision }: RecordedEvent): Promise<void> {
    const { events, vault, blobs } = this.ports;
    let ended: WorkflowDraft | undefined;
    let present: WorkflowDraft | undefined;
    const used = new Set<string>();
    for await (const recorded of events.read(stream)) {
      if (recorded.revision === revision) ended = present;
      const event = recorded as RecordedEvent & WorkflowEvent;
      if (event.type === 'WorkflowDeployed') for (const ref of event.data.secretRefs) used.add(ref);
      if (event.type === 'WorkflowDraftSaved') present = event.data;
      if (event.type === 'WorkflowDraftDiscarded') present = undefined;
    }
    if (!ended) return;
    for (const ref of present?.secretRefs ?? []) used.add(ref);
    for (const ref of ended.secretRefs) if (!used.has(ref)) await vault.delete(ref);
    await blobs.delete(ended.versionHash);
  }
}
