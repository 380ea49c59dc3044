import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { flagFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';

export class ValidateWorkflowDto {
  @Meaning('Whether warnings are errors')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  strict?: boolean;
}
