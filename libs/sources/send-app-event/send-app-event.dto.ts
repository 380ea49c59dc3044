import { IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { APP_EVENT_LIMITS } from '#libs/component-model/app-event-limits.js';
import { Meaning } from '#libs/http/meaning.js';

export class SendAppEventDto {
  @Meaning('Name of the event, as sources ask for it')
  @IsString()
  @Length(1, APP_EVENT_LIMITS.nameLength)
  event_name!: string;

  @Meaning('`apn_…`: only sources that use this account get the event')
  @IsOptional()
  @IsString()
  @MaxLength(APP_EVENT_LIMITS.nameLength)
  account_id?: string;
}
