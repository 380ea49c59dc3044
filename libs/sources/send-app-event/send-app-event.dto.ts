import { IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { APP_EVENT_LIMITS } from '#libs/component-model/app-event-limits.js';

export class SendAppEventDto {
  @IsString()
  @Length(1, APP_EVENT_LIMITS.nameLength)
  event_name!: string;

  @IsOptional()
  @IsString()
  @MaxLength(APP_EVENT_LIMITS.nameLength)
  account_id?: string;
}
