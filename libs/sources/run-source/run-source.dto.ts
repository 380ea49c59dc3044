import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { Meaning } from '#libs/http/meaning.js';

export class RunSourceDto {
  @Meaning('Whether the answer waits for the run to end; false by default')
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  wait?: boolean;
}
