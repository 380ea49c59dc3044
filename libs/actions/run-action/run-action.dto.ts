import { IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { Meaning } from '#libs/http/meaning.js';

export class RunActionDto {
  @Meaning('Component id (`sc_…`) or key')
  @IsString()
  @Length(1, 8_192)
  id!: string;
  @Meaning('`dyp_…`, from `POST /v1/components/props`')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  dynamic_props_id?: string;
}
