import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';

export class RunSourceDto {
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  wait?: boolean;
}
