import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { type Caller } from '#libs/http/callers.js';
import { LocateSource } from '../locate-source.js';
import { SourceBodyDto } from '../source-body.dto.js';
import { DeleteSource } from './delete-source.handler.js';

@Controller('v1/sources')
export class DeleteSourceController {
  constructor(
    private readonly commands: CommandBus,
    private readonly sources: LocateSource,
  ) {}

  @Delete(':idOrSlug')
  @Operation({
    summary: 'Delete a source with its events',
    refusals: [422],
    also: { ignore_hook_errors: 'true: delete it also when its deactivate hook fails' },
  })
  @HttpCode(204)
  async delete(
    @Param('idOrSlug') idOrSlug: string,
    @Params('body_wins', SourceBodyDto) { ignore_hook_errors: ignore = false }: SourceBodyDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { sourceId, workspaceId } = await this.sources.locate(idOrSlug, caller);
    const context = contextIn(workspaceId);
    const { position } = await this.commands.execute(new DeleteSource(sourceId, ignore, context));
    return new Changed(position);
  }
}
