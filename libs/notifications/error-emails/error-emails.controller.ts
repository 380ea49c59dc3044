import { Controller, Get, Inject, Param, Put } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsBoolean } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { flagFromText } from '#libs/http/from-text.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params, validated } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { boolean, named, nullable, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type KnownSources, sourceInPath } from '#libs/http/source-in-path.js';
import { NOTIFIED_SOURCES } from '../ports.js';
import { GetErrorEmails } from './get-error-emails.query.js';
import { SwitchErrorEmails } from './switch-error-emails.handler.js';
import { Meaning } from '#libs/http/meaning.js';

class SwitchErrorEmailsDto {
  /** Whether errors of the source are sent to the caller by email. */
  @Meaning('Whether errors of the source are mailed to the caller')
  @Transform(flagFromText)
  @IsBoolean()
  enabled!: boolean;
}

/** See docs/reference/rest-api.md#error-emails. */
const ErrorEmails = named('ErrorEmails', {
  source_id: text('`dc_…`'),
  enabled: boolean('Whether errors of the source are sent by email'),
  user_id: nullable(text('`u_…`, the user who gets them; null when they are off')),
});

type ErrorEmailsReply = { data: TypeOf<typeof ErrorEmails> };

@Controller('v1/sources/:id/error_emails')
export class ErrorEmailsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    @Inject(NOTIFIED_SOURCES) private readonly sources: KnownSources,
  ) {}

  @Get()
  @Operation({ summary: 'Whether errors of a source are sent by email', reply: one(ErrorEmails) })
  async get(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<ErrorEmailsReply> {
    const { sourceId } = sourceInPath(this.sources, id, caller);
    const doc = await this.queries.execute(new GetErrorEmails(sourceId));
    return errorEmailsReply(sourceId, doc?.userId);
  }

  @Put()
  @Operation({
    summary: 'Switch emails about errors of a source on or off',
    body: SwitchErrorEmailsDto,
    reply: one(ErrorEmails),
  })
  async put(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<ErrorEmailsReply>> {
    // The source comes first, so that a request for an unknown one is answered 404 even with wrong parameters.
    const { sourceId, workspaceId } = sourceInPath(this.sources, id, caller);
    const { enabled } = await validated(SwitchErrorEmailsDto, params);
    const command = new SwitchErrorEmails(sourceId, enabled, contextIn(workspaceId));
    const { state, position } = await this.commands.execute(command);
    return new Changed(position, errorEmailsReply(sourceId, state.status === 'on' ? state.userId : undefined));
  }
}

const errorEmailsReply = (sourceId: string, userId: string | undefined): ErrorEmailsReply => ({
  data: { source_id: sourceId, enabled: userId !== undefined, user_id: userId ?? null },
});
