import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type Caller } from '#libs/http/callers.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { sourceNotFound } from '../domain/source.js';
import { type SourceDoc } from '../read-models/sources.projection.js';
import { findSource } from './find-source.js';

export class GetSource extends Query<SourceDoc> {
  constructor(
    readonly idOrSlug: string,
    readonly caller: Caller,
  ) {
    super();
  }
}

@QueryHandler(GetSource)
export class GetSourceHandler implements IQueryHandler<GetSource> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ idOrSlug, caller }: GetSource): Promise<SourceDoc> {
    const doc = await findSource(this.readModels, idOrSlug, caller);
    if (!doc) throw sourceNotFound(idOrSlug);
    return doc;
  }
}
