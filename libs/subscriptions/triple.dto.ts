import { IsOptional, IsString } from 'class-validator';
import { type Triple } from './domain/subscription.js';
import { Meaning } from '#libs/http/meaning.js';

export class TripleDto {
  @Meaning('What emits: a source (`dc_…`), `dc_*`, a workflow (`p_…`), `p_*`, a workspace (`o_…`) or a user (`u_…`)')
  @IsString()
  emitter_id!: string;

  @Meaning('What receives: a source (`dc_…`), a workflow (`p_…`) or a webhook (`wh_…`)')
  @IsString()
  listener_id!: string;

  @Meaning('Channel; empty for the default one')
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
