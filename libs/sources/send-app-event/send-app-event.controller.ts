import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params, plainText } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { listOf, named, object, text, type TypeOf } from '#libs/http/reply-schema.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { warned, type Warned, type Warning } from '#libs/kernel/warning.js';
import { type AppEvent } from '../ports.js';
import { SendAppEventDto } from './send-app-event.dto.js';
import { SendAppEvent } from './send-app-event.handler.js';

const SentAppEventReply = named('SentAppEvent', {
  invocations: listOf(
    object({ id: text('`inv_…`'), source_id: text('`dc_…`, the source that runs') }),
    'One for each source that has the event',
  ),
  refused: listOf(
    object({
      source_id: text('`dc_…`'),
      code: text('A stable word for programs'),
      message: text('For people: why the source does not have the event'),
    }),
    'Sources that the event is for and that do not have it',
  ),
});

/** An extension. See docs/reference/rest-api.md#app-events. */
@Controller('v1/apps')
export class SendAppEventController {
  constructor(private readonly commands: CommandBus) {}

  @Post(':slug/events')
  @Operation({
    summary: 'Send an event of an app to the sources that take it',
    body: SendAppEventDto,
    objects: { payload: 'What run receives, any JSON' },
    reply: oneWarned(SentAppEventReply),
  })
  @HttpCode(202)
  async send(
    @Param('slug') slug: string,
    @Params('body_wins', SendAppEventDto) body: SendAppEventDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<Warned<TypeOf<typeof SentAppEventReply>>> {
    const payload = Object.hasOwn(params, 'payload') ? JSON.stringify(params['payload']) : undefined;
    if (payload === undefined)
      throw new DomainError('request.missing_parameter', 'parameter payload is missing', { field: 'payload' });
    const event: AppEvent = {
      workspaceId: workspaceOf(caller),
      app: plainText(slug, 'slug'),
      eventName: body.event_name,
      ...(typeof body.account_id === 'string' && body.account_id !== '' ? { accountId: body.account_id } : {}),
      payload,
    };
    const { invocations, refused } = await this.commands.execute(new SendAppEvent(event));
    const reply = {
      invocations: invocations.map(({ id, sourceId }) => ({ id, source_id: sourceId })),
      refused: refused.map(({ sourceId, code, message }) => ({ source_id: sourceId, code, message })),
    };
    return warned(reply, invocations.length + refused.length === 0 ? [nobody(event)] : []);
  }
}

const nobody = ({ app, eventName, accountId }: AppEvent): Warning => ({
  code: 'no_source',
  message: `no active source of this workspace takes the event ${shown(eventName)} of the app ${shown(app)}${accountId === undefined ? '' : ` with account ${shown(accountId)}`}, so nothing runs`,
  path: 'event_name',
});

const shown = (text: string): string => JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}…`);
