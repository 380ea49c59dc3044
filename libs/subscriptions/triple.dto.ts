import { IsOptional, IsString } from 'class-validator';
import { type Triple } from './domain/subscription.js';

export class TripleDto {
  @IsString()
  emitter_id!: string;

  @IsString()
  listener_id!: string;

  @IsOptional()
  @IsString()
  event_name?: string | null;
}

/** Reads a missing event name as the empty one (docs/reference/rest-api.md#subscription-event-name). */
export const tripleOf = (dto: TripleDto): Triple => ({
  emitterId: dto.emitter_id,
  listenerId: dto.listener_id,
  eventName: dto.event_name ?? '',
});
