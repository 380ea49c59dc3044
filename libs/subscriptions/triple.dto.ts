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

/** A missing event name is the empty one (decisions.md 1.6). */
export const tripleOf = (dto: TripleDto): Triple => ({
  emitterId: dto.emitter_id,
  listenerId: dto.listener_id,
  eventName: dto.event_name ?? '',
});
