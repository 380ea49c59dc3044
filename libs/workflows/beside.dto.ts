import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';

export class IgnoreHookErrorsDto {
  @Meaning('Whether a failing deactivate hook of a source of the workflow does not keep the change; false by default')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  ignore_hook_errors?: boolean;
}

/** What may stand beside a definition, and in the query. */
export class BesideDto extends IgnoreHookErrorsDto {
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
  @Meaning('Whether the definition is saved as the draft, and not deployed')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  draft?: boolean;
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
