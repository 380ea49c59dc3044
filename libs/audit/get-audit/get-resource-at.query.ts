import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { EVENT_STORE, UPCASTERS } from '#libs/kernel/tokens.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { type AuditableResource } from '#libs/kernel/auditable.js';
import { AUDITABLE_RESOURCES } from '../ports.js';
import { type At } from './at.js';
import { streamOf } from './stream-of.js';

export interface ResourceAt {
  readonly view: unknown;
  /** Last event that the view includes. */
  readonly asOf: RecordedEvent;
}

export class GetResourceAt extends Query<ResourceAt> {
  constructor(
    readonly id: string,
    readonly workspaceIds: readonly string[],
    readonly at: At,
  ) {
    super();
  }
}

@QueryHandler(GetResourceAt)
export class GetResourceAtHandler implements IQueryHandler<GetResourceAt> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(AUDITABLE_RESOURCES) private readonly resources: readonly AuditableResource[],
  ) {}

  async execute({ id, workspaceIds, at }: GetResourceAt): Promise<ResourceAt> {
    const { resource, stream, newest } = await streamOf(this.store, this.resources, id, workspaceIds);
    if ('revision' in at && at.revision > newest.revision) {
      throw new DomainError(
        'audit.not_found',
        `${id} has no revision ${at.revision}, its newest is ${newest.revision}`,
        { id, at: Number(at.revision), newest: Number(newest.revision) },
      );
    }
    const events: RecordedEvent[] = [];
    for await (const event of this.store.read(stream)) {
      const after = 'revision' in at ? event.revision > at.revision : event.recordedAt > at.time;
      if (after) {
        if (events.length > 0) break;
        const created = new Date(event.recordedAt).toISOString();
        throw new DomainError('audit.not_found', `${id} did not exist then: it was created at ${created}`, {
          id,
          created_at: created,
        });
      }
      events.push(this.upcasters.upcast(event));
    }
    return { view: resource.viewAfter(events), asOf: events.at(-1) ?? newest };
  }
}
