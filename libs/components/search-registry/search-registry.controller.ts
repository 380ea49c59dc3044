import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsNumber, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { listOf, named, text, type FieldsOf } from '#libs/http/reply-schema.js';
import { wordsOf, type FoundKeys } from '../registry/search-words.js';
import { SearchRegistry } from './search-registry.query.js';
import { Meaning } from '#libs/http/meaning.js';

const Found = named('FoundComponents', {
  sources: listOf(text(), 'Keys of sources, the best match first'),
  actions: listOf(text(), 'Keys of actions, the best match first'),
} satisfies FieldsOf<FoundKeys>);

class SearchRegistryDto {
  /** Words to look for in key, name, description and app. */
  @Meaning('Words to look for')
  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  query?: string;
  /** Slug of an app that the component must use. */
  @Meaning('Only components of this app')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  app?: string;
  /** Share of the words that must occur. */
  @Meaning('Least similarity of a match, 0 to 1')
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' && value !== '' ? Number(value) : value))
  @IsNumber()
  @Min(0)
  @Max(1)
  similarity_threshold?: number;
  /** Accepted for compatibility, and ignored. */
  @Meaning('Whether the answer tells the similarities; false by default')
  @IsOptional()
  @IsString()
  @MaxLength(20)
  debug?: string;
}

@Controller('v1/components/search')
export class SearchRegistryController {
  constructor(private readonly queries: QueryBus) {}

  /** Searches the registry (docs/reference/rest-api.md#registry-search). The reply is not wrapped in `data`. */
  @Get()
  @Operation({ summary: 'Keys of the registry that match words', query: SearchRegistryDto, reply: Found })
  async search(@Params('query_wins', SearchRegistryDto) given: SearchRegistryDto): Promise<FoundKeys> {
    const { query = '', app = '', similarity_threshold: threshold = 0 } = given;
    const words = wordsOf(query);
    return this.queries.execute(new SearchRegistry({ words, app: app === '' ? undefined : app, threshold }));
  }
}
