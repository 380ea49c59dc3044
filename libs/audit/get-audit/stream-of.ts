import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { streamName, type RecordedEvent } from '#libs/kernel/events.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { type AuditableResource } from '#libs/kernel/auditable.js';

export interface AuditedStream {
  readonly resource: AuditableResource;
  readonly stream: string;
  readonly newest: RecordedEvent;
}

/** Finds a resource's stream. Throws audit.not_found, also for a resource of a workspace that is not the caller's. */
export const streamOf = async (
  store: EventStore,
  resources: readonly AuditableResource[],
  id: string,
  workspaceIds: readonly string[],
): Promise<AuditedStream> => {
  const resource = resources.find(({ prefix }) => isIdOf(prefix, id));
  if (resource) {
    const stream = streamName(resource.category, id);
    for await (const newest of store.read(stream, { direction: 'backwards', limit: 1 })) {
      if (workspaceIds.includes(newest.metadata.workspaceId)) return { resource, stream, newest };
    }
  }
  throw new DomainError('audit.not_found', `there is no resource ${shownId(id)}`, { id: shownId(id) });
};
