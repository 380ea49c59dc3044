import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId, shownId } from '#libs/kernel/ids.js';
import { readAll } from '#libs/kernel/read-all.js';
import { type Page, type PageQuery, type ReadModelStore, UnknownCursor } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type AppDoc, APPS } from '../read-models/apps.projection.js';
import { registryEntries } from '../registry/registry.projection.js';

/** An app as a caller sees it. The id is the same in every workspace. */
export interface SeenApp {
  readonly id: string;
  readonly slug: string;
}

/** Apps of the components in this workspace, and of the registry, by slug. */
export class ListApps extends Query<Page<SeenApp>> {
  constructor(
    readonly workspaceId: string,
    /** Part of the slug; empty for all. */
    readonly part: string,
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

@QueryHandler(ListApps)
export class ListAppsHandler implements IQueryHandler<ListApps> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ workspaceId, part, page }: ListApps): Promise<Page<SeenApp>> {
    const all = await seenApps(this.readModels, workspaceId);
    return pageOf(
      all.filter(({ slug }) => slug.toLowerCase().includes(part.toLowerCase())),
      page,
    );
  }
}

export class GetApp extends Query<SeenApp> {
  constructor(
    readonly idOrSlug: string,
    readonly workspaceId: string,
  ) {
    super();
  }
}

@QueryHandler(GetApp)
export class GetAppHandler implements IQueryHandler<GetApp> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  /** Throws app.not_found, also for an app that only components of other workspaces name. */
  async execute({ idOrSlug, workspaceId }: GetApp): Promise<SeenApp> {
    const all = await seenApps(this.readModels, workspaceId);
    const app = all.find(({ id, slug }) => id === idOrSlug || slug === idOrSlug);
    if (app) return app;
    throw new DomainError(
      'app.not_found',
      `no component of this workspace or of the registry names an app ${shownId(idOrSlug)}: GET /v1/apps lists those that one names`,
      { id: shownId(idOrSlug) },
    );
  }
}

const seenApps = async (readModels: ReadModelStore, workspaceId: string): Promise<readonly SeenApp[]> => {
  const slugs = new Set<string>();
  for (const { slug } of await readAll<AppDoc>(readModels, APPS, { workspaceId })) slugs.add(slug);
  for await (const { app } of registryEntries(readModels)) if (app !== null && app !== '') slugs.add(app);
  return [...slugs].sort().map((slug) => ({ id: derivedId('app', slug), slug }));
};

/** Cuts a page by the rules of a read model: behind `after` and before `before`, or right before `before` alone. */
const pageOf = (all: readonly SeenApp[], { limit, after, before }: Omit<PageQuery, 'where'>): Page<SeenApp> => {
  const from = after === undefined ? 0 : placeOf(all, after) + 1;
  const to = before === undefined ? all.length : placeOf(all, before);
  const start = after === undefined && before !== undefined ? Math.max(0, to - limit) : from;
  return { docs: all.slice(start, Math.min(to, start + limit)), total: all.length };
};

const placeOf = (all: readonly SeenApp[], cursor: string): number => {
  const place = all.findIndex(({ id }) => id === cursor);
  if (place < 0) throw new UnknownCursor(cursor);
  return place;
};
