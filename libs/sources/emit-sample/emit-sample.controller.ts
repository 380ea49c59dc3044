import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { named, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { LocateSource } from '../locate-source.js';
import { EmitSample } from './emit-sample.handler.js';

const EmittedSample = named('EmittedSample', {
  emitter_id: text('`dc_…`, the source'),
  event_name: oneOf([''], 'The default channel'),
  test: oneOf([true], 'The event is marked as a test in its `metadata`'),
});

/** An extension. See docs/reference/rest-api.md#source-sample-emit. */
@Controller('v1/sources')
export class EmitSampleController {
  constructor(
    private readonly commands: CommandBus,
    private readonly sources: LocateSource,
  ) {}

  @Post(':idOrSlug/sample_emit')
  @Operation({ summary: "Emit the sample event of the source's component", reply: one(EmittedSample) })
  @HttpCode(200)
  async emit(
    @Param('idOrSlug') idOrSlug: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: TypeOf<typeof EmittedSample> }> {
    const { sourceId, workspaceId } = await this.sources.locate(idOrSlug, caller);
    await this.commands.execute(new EmitSample(sourceId, workspaceId));
    return { data: { emitter_id: sourceId, event_name: '', test: true } };
  }
}
