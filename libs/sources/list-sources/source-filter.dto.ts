import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsOptional, IsString, Length } from 'class-validator';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';

const STATES = ['failing', 'silent'] as const;
const SORTS = ['created', 'name', 'last_event', 'errors'] as const;

/** docs/reference/rest-api.md#source-list-filters */
export class SourceFilterDto {
  @Meaning('Part of the name; case does not matter')
  @IsOptional()
  @IsString()
  @Length(1, 255)
  q?: string;
  @Meaning('Only active ones, or only others')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  active?: boolean;
  @Meaning('failing: with an error in 24 hours; silent: active, without an event in 24 hours')
  @IsOptional()
  @IsIn(STATES)
  state?: (typeof STATES)[number];
  @Meaning('created (the default): newest first; name; last_event: newest first; errors: most in 24 hours first')
  @IsOptional()
  @IsIn(SORTS)
  sort?: (typeof SORTS)[number];
  @Meaning('Whether each source has `stats`')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  include_stats?: boolean;
}
