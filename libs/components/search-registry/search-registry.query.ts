import { Inject } from '@nestjs/common';
import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type RegistryEntry } from '../registry/registry-entry.js';
import { registryEntries } from '../registry/registry.projection.js';
import { foundIn, type FoundKeys, type RegistrySearch } from '../registry/search-words.js';

export class SearchRegistry extends Query<FoundKeys> {
  constructor(readonly search: RegistrySearch) {
    super();
  }
}

@QueryHandler(SearchRegistry)
export class SearchRegistryHandler implements IQueryHandler<SearchRegistry> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ search }: SearchRegistry): Promise<FoundKeys> {
    const entries: RegistryEntry[] = [];
    for await (const entry of registryEntries(this.readModels)) entries.push(entry);
    return foundIn(entries, search);
  }
}
