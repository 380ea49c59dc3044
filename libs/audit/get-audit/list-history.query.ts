import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { EVENT_STORE, UPCASTERS } from '#libs/kernel/tokens.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { type AuditableResource } from '#libs/kernel/auditable.js';
import { AUDITABLE_RESOURCES } from '../ports.js';
import { streamOf } from './stream-of.js';

export interface HistoryPage {
  /** Oldest first. */
  readonly events: readonly RecordedEvent[];
  /** Number of events in the stream. */
  readonly total: number;
}

export class ListHistory extends Query<HistoryPage> {
  constructor(
    readonly id: string,
    readonly workspaceIds: readonly string[],
    /** Revisions; `after` and `before` are exclusive. */
    readonly page: { readonly limit: number; readonly after?: bigint; readonly before?: bigint },
  ) {
    super();
  }
}

@QueryHandler(ListHistory)
export class ListHistoryHandler implements IQueryHandler<ListHistory> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(AUDITABLE_RESOURCES) private readonly resources: readonly AuditableResource[],
  ) {}

  async execute({ id, workspaceIds, page }: ListHistory): Promise<HistoryPage> {
    const { stream, newest } = await streamOf(this.store, this.resources, id, workspaceIds);
    const { limit, after, before } = page;
    // `before` alone reads the events right before it. Every other request reads forwards from `after`.
    const backwards = after === undefined && before !== undefined;
    const end = before ?? newest.revision + 1n;
    const events: RecordedEvent[] = [];
    if (end > 0n) {
      const from = backwards ? end - 1n : (after ?? -1n) + 1n;
      const direction = backwards ? 'backwards' : 'forwards';
      for await (const event of this.store.read(stream, { direction, from, limit })) {
        if (event.revision < end) events.push(this.upcasters.upcast(event));
      }
    }
    return { events: backwards ? events.reverse() : events, total: Number(newest.revision) + 1 };
  }
}
