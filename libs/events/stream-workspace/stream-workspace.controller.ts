import { type ServerResponse } from 'node:http';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { type Request } from 'express';
import {
  type Asked,
  EventStreams,
  openStream,
  readerOf,
  type StreamSource,
  WorkspaceStream,
} from '#libs/event-streams/index.js';
import { TokenInQuery } from '#libs/http/access.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { text } from '#libs/http/reply-schema.js';
import { sourceInPath } from '#libs/http/source-in-path.js';
import { callerWithin } from '#libs/http/workspace.js';
import { workflowInPath } from '#libs/http/workflow-in-path.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { otherKindHint } from '#libs/kernel/id-kinds.js';
import { isIdOf, shownId } from '#libs/kernel/ids.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { invalidParameter, textOf } from '../list-event-summaries/event-lists.js';
import { EMITTERS, type KnownEmitters, STREAM_SOURCES } from '../ports.js';
import { RunSource } from '../source-runs/run-source.js';
import { SummarySource } from './summary-source.js';

const DEFAULT_STREAM = 'events';

/** docs/reference/rest-api.md#stream-workspace */
@Controller('v1/workspaces')
export class StreamWorkspaceController {
  private readonly sources: readonly StreamSource[];

  constructor(
    private readonly streams: EventStreams,
    @Inject(EMITTERS) private readonly emitters: KnownEmitters,
    @Inject(CLOCK) private readonly clock: Clock,
    summaries: SummarySource,
    runs: RunSource,
    @Inject(STREAM_SOURCES) others: readonly StreamSource[],
  ) {
    this.sources = [summaries, runs, ...others];
  }

  @Get(':id/sse')
  @TokenInQuery()
  @Operation({
    summary: 'What happens in a workspace, as it happens (server-sent events)',
    replies: {
      200: {
        description: 'Server-sent events, until one of both sides ends the connection',
        schema: text('Lines `event:`, `id:` and `data:` for each record, and comments that keep the connection alive'),
      },
    },
    produces: 'text/event-stream',
    also: {
      streams: 'Names of streams with commas between: events, logs, errors, invocations, deliveries, changes',
      emitter_id: 'Only what this source or workflow emits',
      webhook_id: 'Only the deliveries of this webhook',
      event_name: 'Channel of events, the default one without it; `*` for every channel of components',
      expand: 'event: without truncation',
      last_event_id: 'The last cursor that the reader has, as in the header Last-Event-ID',
      access_token: 'API key, for programs that cannot send headers',
    },
  })
  async ofWorkspace(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const asked = this.askedBy(params, callerWithin(caller, id));
    const cursor = request.headers['last-event-id'] ?? textOf(params, 'last_event_id');
    const shown = new WorkspaceStream(asked, this.sources, () => this.clock.now());
    const reader = readerOf(caller, asked.workspaceId);
    const stream = await openStream(this.streams, shown.options(), reader, { request, response });
    if (!stream) return;
    if (typeof cursor !== 'string' || cursor === '') return stream.release();
    try {
      await shown.resume(stream, this.streams, cursor);
    } catch (error) {
      // The headers are sent, so the client cannot be answered. It connects again with the same cursor.
      stream.end('read failed', error);
    }
  }

  /** @param caller within the workspace. */
  private askedBy(params: Parameters, caller: Caller): Asked {
    const [workspaceId = ''] = caller.workspaceIds;
    const emitterId = textOf(params, 'emitter_id') || undefined;
    const webhookId = textOf(params, 'webhook_id') || undefined;
    return {
      workspaceId,
      streams: this.streamsIn(params),
      ...(emitterId === undefined ? {} : { emitterId: this.emitter(emitterId, caller) }),
      ...(webhookId === undefined ? {} : { webhookId: this.webhook(webhookId, workspaceId) }),
      eventName: textOf(params, 'event_name') ?? '',
      whole: isWhole(params),
    };
  }

  private streamsIn(params: Parameters): ReadonlySet<string> {
    const given = textOf(params, 'streams') || DEFAULT_STREAM;
    const known = this.sources.flatMap(({ names }) => names);
    const streams = given.split(',').map((name) => name.trim());
    const unknown = streams.find((name) => !known.includes(name));
    if (unknown !== undefined) throw invalidParameter('streams', unknown, `must have names of ${known.join(', ')}`);
    return new Set(streams);
  }

  private emitter(given: string, caller: Caller): string {
    if (isIdOf('p', given)) return workflowInPath(this.emitters, given, caller)[0];
    return sourceInPath(this.emitters, given, caller).sourceId;
  }

  private webhook(given: string, workspaceId: string): string {
    if (isIdOf('wh', given) && this.emitters.find(given)?.workspaceId === workspaceId) return given;
    throw new DomainError(
      'webhook.not_found',
      `there is no webhook ${shownId(given)} in workspace ${workspaceId}${otherKindHint(given, 'wh')}`,
      { id: shownId(given) },
    );
  }
}

const isWhole = (params: Parameters): boolean => {
  const given = textOf(params, 'expand') ?? '';
  if (given !== '' && given !== 'event') throw invalidParameter('expand', given, 'must be event');
  return given === 'event';
};
