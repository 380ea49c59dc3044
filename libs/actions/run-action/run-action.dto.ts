import { IsOptional, IsString, Length, MaxLength } from 'class-validator';

export class RunActionDto {
  @IsString() @Length(1, 8_192) id!: string;
  @IsOptional() @IsString() @MaxLength(200) dynamic_props_id?: string;
}
