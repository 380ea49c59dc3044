import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type OwnResources } from '#libs/http/workspace.js';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { SOURCES, type SourceDoc } from '../read-models/sources.projection.js';

export type SourceOwner = OwnResources | { readonly workspaceId: string };

export class ListSources extends Query<Page<SourceDoc>> {
  constructor(
    readonly owner: SourceOwner,
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

/** Newest first, by creation, then by id. See docs/reference/rest-api.md#list-order. */
@QueryHandler(ListSources)
export class ListSourcesHandler implements IQueryHandler<ListSources> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ owner, page }: ListSources): Promise<Page<SourceDoc>> {
    return this.readModels.page<SourceDoc>(SOURCES, { ...page, where: { ...owner, listed: 'yes' } });
  }
}
