import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type EventStore } from '#libs/kernel/event-store.js';
import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { EVENT_STORE, READ_MODELS, UPCASTERS } from '#libs/kernel/tokens.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { masked } from '../get-audit/masked.js';
import { type AuditableResource } from '#libs/kernel/auditable.js';
import { AUDITABLE_RESOURCES } from '../ports.js';
import { type AuditDoc, WORKSPACE_AUDIT } from '../read-models/workspace-audit.projection.js';
import { type Change, changesBetween } from './changes.js';

export interface AuditedEvent extends AuditDoc {
  readonly event: RecordedEvent;
  /** Null for an event so late in its stream that reading all earlier ones would take too long. */
  readonly changes: readonly Change[] | null;
}

/** Revision from which an entry has no changes: they need every earlier event of the stream. */
export const MAX_REPLAYED = 500;

/** Events of a workspace, newest first. */
export class ListWorkspaceAudit extends Query<Page<AuditedEvent>> {
  constructor(readonly page: PageQuery) {
    super();
  }
}

@QueryHandler(ListWorkspaceAudit)
export class ListWorkspaceAuditHandler implements IQueryHandler<ListWorkspaceAudit> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(UPCASTERS) private readonly upcasters: Upcasters,
    @Inject(AUDITABLE_RESOURCES) private readonly resources: readonly AuditableResource[],
  ) {}

  async execute({ page }: ListWorkspaceAudit): Promise<Page<AuditedEvent>> {
    const { docs, total } = await this.readModels.page<AuditDoc>(WORKSPACE_AUDIT, page);
    const last = new Map<string, number>();
    for (const { stream, revision } of docs) last.set(stream, Math.max(revision, last.get(stream) ?? 0));
    const found = new Map<string, ReadonlyMap<number, AuditedPart>>();
    for (const [stream, revision] of last) found.set(stream, await this.partsOf(stream, docs, revision));
    const audited = docs.flatMap((doc) => {
      const part = found.get(doc.stream)?.get(doc.revision);
      return part ? [{ ...doc, ...part }] : [];
    });
    return { docs: audited, total };
  }

  /** Returns the events of one stream on the page, with the changes of each. Reads the stream once. */
  private async partsOf(
    stream: string,
    docs: readonly AuditDoc[],
    last: number,
  ): Promise<ReadonlyMap<number, AuditedPart>> {
    const wanted = new Set(docs.flatMap((doc) => (doc.stream === stream ? [doc.revision] : [])));
    const parts = new Map<number, AuditedPart>();
    const resource = this.resources.find(({ category }) => stream.startsWith(`${category}-`));
    const first = Math.min(...wanted);
    const follow = first < MAX_REPLAYED ? resource?.follow() : undefined;
    const from = follow ? 0 : first;
    let before: unknown;
    for await (const recorded of this.store.read(stream, { from: BigInt(from), limit: last - from + 1 })) {
      const event = this.upcasters.upcast(recorded);
      const revision = Number(event.revision);
      const after = revision < MAX_REPLAYED ? follow?.({ type: event.type, data: event.data }) : undefined;
      if (wanted.has(revision)) {
        const changes = after === undefined ? null : changesBetween(masked(before), masked(after));
        parts.set(revision, { event, changes });
      }
      before = after;
    }
    return parts;
  }
}

type AuditedPart = Pick<AuditedEvent, 'event' | 'changes'>;
