import { Controller, Delete, HttpCode, Inject, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsOptional, IsString } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params, validated } from '#libs/http/parameters.js';
import { object } from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { type KnownSources, sourceInPath } from '#libs/http/source-in-path.js';
import { EMITTERS } from '../ports.js';
import { DeleteEvents } from './delete-events.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class DeleteEventsDto {
  @Meaning('Event id from which events are deleted, included; the oldest by default')
  @IsOptional()
  @IsString()
  start_id?: string | null;

  @Meaning('Event id up to which events are deleted, included; the newest by default')
  @IsOptional()
  @IsString()
  end_id?: string | null;

  @Meaning("Channel; by default all but the platform's")
  @IsOptional()
  @IsString()
  event_name?: string | null;
}

@Controller('v1/sources/:id/events')
export class DeleteEventsController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(EMITTERS) private readonly emitters: KnownSources,
  ) {}

  /** Answers 202 by contract, although the next read shows the deletion (docs/reference/rest-api.md#events-delete). */
  @Delete()
  @Operation({
    summary: 'Delete events of a source: all, or a range of ids',
    query: DeleteEventsDto,
    reply: object({}),
  })
  @HttpCode(202)
  async remove(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<Record<string, never>> {
    // The source comes first, so that a request for an unknown one is answered 404 even with wrong parameters.
    const { sourceId, workspaceId } = sourceInPath(this.emitters, id, caller);
    const { start_id, end_id, event_name } = await validated(DeleteEventsDto, params);
    const range = {
      ...(typeof event_name === 'string' ? { channel: event_name } : {}),
      ...(start_id ? { startId: start_id } : {}),
      ...(end_id ? { endId: end_id } : {}),
    };
    await this.commands.execute(new DeleteEvents(sourceId, workspaceId, range));
    return {};
  }
}
