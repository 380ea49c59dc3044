import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';

/** What may stand beside a definition, and in the query. */
export class BesideDto {
  @Meaning('Whether warnings are errors')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  strict?: boolean;
  @Meaning('Whether the triggers start runs; true for a new workflow unless given')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  active?: boolean;
  @Meaning('Whether components are looked for anew; false by default')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  refresh?: boolean;
  @Meaning('With `active: false` in a change: whether every unfinished run is cancelled')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  cancel_runs?: boolean;
  @Meaning('The program that keeps the workflow')
  @IsOptional()
  @IsString()
  @MaxLength(255)
  managed_by?: string | null;
}
