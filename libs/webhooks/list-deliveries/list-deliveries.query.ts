import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { retainedPage } from '#libs/stream-log/retained-page.js';
import { findWebhook } from '../find-webhook.js';
import {
  type AttemptDoc,
  attemptSortOf,
  deliveryAttempts,
  RETAINED_ATTEMPTS,
} from '../read-models/attempts.projection.js';

/** Which attempts are listed. An absent part means any. Times are epoch milliseconds of the start, both included. */
export interface AttemptFilter {
  readonly outcome?: string;
  readonly status?: number;
  readonly since?: number;
  readonly until?: number;
}

/** Lists the attempts at a webhook's deliveries, newest first. Throws webhook.not_found. */
export class ListDeliveries extends Query<Page<AttemptDoc>> {
  constructor(
    readonly webhookId: string,
    readonly workspaceIds: readonly string[],
    readonly page: Omit<PageQuery, 'where'>,
    readonly filter: AttemptFilter = {},
  ) {
    super();
  }
}

@QueryHandler(ListDeliveries)
export class ListDeliveriesHandler implements IQueryHandler<ListDeliveries> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ webhookId, workspaceIds, page, filter }: ListDeliveries): Promise<Page<AttemptDoc>> {
    await findWebhook(this.readModels, workspaceIds, webhookId);
    if (Object.keys(filter).length > 0) return this.filtered(webhookId, page, filter);
    return retainedPage<AttemptDoc>(
      this.readModels,
      deliveryAttempts,
      { where: { webhookId }, ...page },
      RETAINED_ATTEMPTS,
    );
  }

  /** So few attempts are kept that all of them are read. */
  private async filtered(
    webhookId: string,
    { limit, after, before }: Omit<PageQuery, 'where'>,
    filter: AttemptFilter,
  ): Promise<Page<AttemptDoc>> {
    const query = { where: { webhookId }, limit: RETAINED_ATTEMPTS, withTotal: false };
    const { docs } = await this.readModels.page<AttemptDoc>(deliveryAttempts, query);
    const listed = docs.filter((doc) => isListed(doc, filter));
    const [from, to] = [after, before].map((id) => (id === undefined ? undefined : attemptSortOf(id)));
    const within = listed.filter(({ sort }) => (from === undefined || sort < from) && (to === undefined || sort > to));
    return {
      docs: after === undefined && before !== undefined ? within.slice(-limit) : within.slice(0, limit),
      total: listed.length,
    };
  }
}

const isListed = (doc: AttemptDoc, { outcome, status, since = 0, until = Infinity }: AttemptFilter): boolean =>
  (outcome === undefined || doc.outcome === outcome) &&
  (status === undefined || doc.status === status) &&
  doc.ts >= since &&
  doc.ts <= until;
