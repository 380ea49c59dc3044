import { Controller, Get, Inject, Param } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsOptional, IsString, Length } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { creationSort, creationSortOf } from '#libs/kernel/ids.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type Page, type PageQuery, type ReadModelStore, UnknownCursor } from '#libs/kernel/read-model-store.js';
import { hasPart } from '#libs/kernel/text-search.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type WebhookDoc, webhooksProjection } from '../read-models/webhooks.projection.js';
import { ListedWebhook, type ListedWebhookReply, webhookReply } from '../webhook-reply.js';
import { StatsOfWebhooks } from './webhook-stats.js';

const STATES = ['failing', 'disabled'] as const;

class WebhookFilterDto {
  @Meaning('Part of the name or of the URL; case does not matter')
  @IsOptional()
  @IsString()
  @Length(1, 255)
  q?: string;
  @Meaning('Only active ones, or only others')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  active?: boolean;
  @Meaning('failing: the last attempt failed, or a delivery was given up in 24 hours; disabled: by the server')
  @IsOptional()
  @IsIn(STATES)
  state?: (typeof STATES)[number];
  @Meaning('Whether each webhook has `stats`')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  include_stats?: boolean;
}

/** docs/reference/rest-api.md#webhooks-of-workspace */
@Controller('v1')
export class ListWebhooksOfWorkspaceController {
  constructor(
    private readonly stats: StatsOfWebhooks,
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
  ) {}

  @Get(['orgs/:id/webhooks', 'workspaces/:id/webhooks'])
  @Operation({
    summary: 'Webhooks of a workspace, newest first',
    query: WebhookFilterDto,
    paged: true,
    reply: paged(ListedWebhook),
  })
  async list(
    @Param('id') id: string,
    @Params('query_wins', WebhookFilterDto) filter: WebhookFilterDto,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedWebhookReply>> {
    const page = await this.page(memberOf(caller, id), filter, pageQuery(params, creationSortOf('wh')));
    if (filter.include_stats !== true) return listReply(page, webhookReply);
    const ids = page.docs.map((doc) => doc.id);
    const [stats, waiting] = await Promise.all([this.stats.of(ids), this.stats.waiting(ids)]);
    const byId = new Map(
      ids.map((webhookId, i) => {
        const { delivered = 0, failed = 0, lastAttemptAt = null } = stats[i] ?? {};
        const counts = { delivered_24h: delivered, failed_24h: failed, waiting: waiting[i] ?? 0 };
        return [webhookId, { ...counts, last_attempt_at: lastAttemptAt }];
      }),
    );
    return listReply(page, (doc) => {
      const own = byId.get(doc.id);
      return { ...webhookReply(doc), ...(own ? { stats: own } : {}) };
    });
  }

  private async page(
    workspaceId: string,
    { q, active, state }: WebhookFilterDto,
    query: Omit<PageQuery, 'where'>,
  ): Promise<Page<WebhookDoc>> {
    const { schema } = webhooksProjection;
    if (q === undefined && active === undefined && state === undefined)
      return this.readModels.page<WebhookDoc>(schema, { where: { workspaceId }, ...query });
    const part = q?.toLowerCase();
    const found = (await readAll<WebhookDoc>(this.readModels, schema, { workspaceId })).filter(
      (doc) =>
        (active === undefined || doc.active === active) &&
        (state !== 'disabled' || doc.disabledReason !== null) &&
        (part === undefined || hasPart(`${doc.name ?? ''}\n${doc.url}`.toLowerCase(), part)),
    );
    return pageOf(state === 'failing' ? await this.failing(found) : found, query);
  }

  private async failing(docs: readonly WebhookDoc[]): Promise<readonly WebhookDoc[]> {
    const stats = await this.stats.of(docs.map(({ id }) => id));
    return docs.filter((_, i) => stats[i]?.isFailing === true);
  }
}

/** A page of webhooks in the order of their creation, the newest first. A webhook that is deleted has its place still. */
const pageOf = (docs: readonly WebhookDoc[], { limit, after, before }: Omit<PageQuery, 'where'>): Page<WebhookDoc> => {
  const placeOf = (cursor: string): { readonly at: number; readonly next: number } => {
    const at = docs.findIndex(({ id }) => id === cursor);
    if (at >= 0) return { at, next: at + 1 };
    const created = creationSortOf('wh')(cursor);
    if (created === undefined) throw new UnknownCursor(cursor);
    const next = docs.findIndex(
      ({ id, createdAt }) => (creationSortOf('wh')(id) ?? creationSort(+createdAt)) < created,
    );
    return next === -1 ? { at: docs.length, next: docs.length } : { at: next, next };
  };
  const end = before === undefined ? docs.length : placeOf(before).at;
  const start = after === undefined ? (before === undefined ? 0 : Math.max(0, end - limit)) : placeOf(after).next;
  return { docs: docs.slice(start, Math.min(end, start + limit)), total: docs.length };
};
