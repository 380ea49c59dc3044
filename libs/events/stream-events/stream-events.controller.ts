import { type ServerResponse } from 'node:http';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { type Request } from 'express';
import { ERRORS_CHANNEL, LOGS_CHANNEL, SSE_CHANNEL } from '#libs/component-model/channels.js';
import {
  type EventStream,
  EventStreams,
  openStream,
  publicReader,
  readerOf,
  type StreamReader,
} from '#libs/event-streams/index.js';
import { KeyOptional, TokenInQuery } from '#libs/http/access.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { text } from '#libs/http/reply-schema.js';
import { callerIfAny, callerOf, hostedStreamOf } from '#libs/http/request-state.js';
import { sourceInPath } from '#libs/http/source-in-path.js';
import { workflowInPath } from '#libs/http/workflow-in-path.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { sortableEventId } from '#libs/stream-log/event-ids.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { invalidParameter, textOf } from '../list-event-summaries/event-lists.js';
import { EMITTERS, type KnownEmitters } from '../ports.js';
import { emitsStream, type StreamForm } from './live-event.js';
import { KeptEvents } from './kept-events.js';
import { type HostedStream } from '#libs/http/normalise-url.js';

const REPLIES = {
  200: {
    description: 'Server-sent events, until one of both sides ends the connection',
    schema: text('Lines `id:` and `data:` for each event, and comments that keep the connection alive'),
  },
};
const TOKEN = 'API key, for programs that cannot send headers';
const LAST = 'Id of the last event that the reader has, as in the header Last-Event-ID';

const MESSAGES = { channel: SSE_CHANNEL, form: 'message' } as const;

/** Live events (docs/reference/rest-api.md#streams). */
@Controller('v1')
export class StreamEventsController {
  private readonly kept: KeptEvents;

  constructor(
    private readonly streams: EventStreams,
    @Inject(EMITTERS) private readonly emitters: KnownEmitters,
    @Inject(READ_MODELS) readModels: ReadModelStore,
    @Inject(STREAM_LOG) log: StreamLog,
    @Inject(TOPIC_POLICY) topics: TopicPolicy,
  ) {
    this.kept = new KeptEvents({ readModels, log, topics });
  }

  /** Without an id the stream begins with the next event. */
  @Get('sources/:id/sse')
  @TokenInQuery()
  @Operation({
    summary: 'Events of a source as they happen (server-sent events)',
    replies: REPLIES,
    produces: 'text/event-stream',
    also: {
      stream: 'logs: the log lines, errors: the errors',
      event_name: 'Channel',
      envelope: '1: event summaries instead of the emitted values, as by default at addresses of the hosted service',
      last_event_id: LAST,
      access_token: TOKEN,
    },
  })
  async ofSource(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const { sourceId, workspaceId } = sourceInPath(this.emitters, id, caller);
    const lastId = lastEventId(request, params);
    const shown = { emitterId: sourceId, ...shownBy(params, hostedStreamOf(request)) };
    const options = emitsStream(shown, 'sse-handshake');
    const stream = await openStream(this.streams, options, readerOf(caller, workspaceId), { request, response });
    if (stream && lastId !== undefined) await this.replay(stream, shown, lastId);
    else stream?.release();
  }

  /** Begins with the messages that are kept, as the hosted service does. */
  @Get('workflows/:id/sse')
  @TokenInQuery()
  @KeyOptional()
  @Operation({
    summary: 'What steps of a workflow send with `$.send.sse` (server-sent events)',
    replies: REPLIES,
    produces: 'text/event-stream',
    also: { last_event_id: LAST, access_token: TOKEN },
  })
  async ofWorkflow(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @Req() request: Request,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const { emitterId, reader } = this.readOf(id, request);
    const lastId = lastEventId(request, params);
    const options = emitsStream({ emitterId, ...MESSAGES }, 'keepalive');
    const stream = await openStream(this.streams, options, reader, { request, response });
    if (stream) await this.replay(stream, MESSAGES, lastId);
  }

  /** Without a key only a workflow with `public_sse` has a stream, and only its id finds it. */
  private readOf(w: string, request: Request): { readonly emitterId: string; readonly reader: StreamReader } {
    const workspaceId = this.emitters.find(w)?.workspaceId;
    if (!callerIfAny(request) && workspaceId !== undefined && this.streams.isPublic(w))
      return { emitterId: w, reader: publicReader(workspaceId) };
    const caller = callerOf(request);
    const [emitterId, found] = workflowInPath(this.emitters, w, caller);
    return { emitterId, reader: readerOf(caller, found.workspaceId) };
  }

  private async replay(
    stream: EventStream,
    { channel, form }: { readonly channel: string; readonly form: StreamForm },
    lastId: string | undefined,
  ): Promise<void> {
    const { emitterId } = stream.options;
    const { userId } = stream.reader;
    try {
      if (!(await this.kept.caughtUp(emitterId))) return stream.end('events not readable in time');
      const resume = { emitterId, channel, lastId, form, userId, isOver: () => stream.isOver };
      for await (const events of this.kept.after(resume)) {
        if (stream.isOver) return;
        await this.streams.replay(stream, events);
      }
      stream.release();
    } catch (error) {
      // The headers are sent, so the client cannot be answered. It connects again with the same id.
      stream.end('read failed', error);
    }
  }
}

const STREAMS: Readonly<Record<string, string>> = { emits: '', logs: LOGS_CHANNEL, errors: ERRORS_CHANNEL };

/**
 * Content of a source's stream. Addresses of the hosted service have its defaults: events in their envelope. Its
 * clients add parameters of their own to every address, so a `stream` or `envelope` without a meaning here counts as
 * absent.
 */
const shownBy = (
  params: Parameters,
  hosted: HostedStream | undefined,
): { readonly channel: string; readonly form: StreamForm } => {
  const formOf = (isEnvelope: boolean): StreamForm => (isEnvelope ? 'envelope' : 'plain');
  if (hosted === undefined) return { channel: channelOf(params), form: formOf(isSet(params, 'envelope')) };
  const { stream, envelope, ...others } = params;
  const known = hosted === 'logs' ? 'logs' : isStream(stream) ? stream : undefined;
  const channel = channelOf({ ...others, ...(known === undefined ? {} : { stream: known }) });
  return { channel, form: formOf(flagOf(envelope) ?? hosted === 'events') };
};

const isStream = (given: unknown): given is string => typeof given === 'string' && Object.hasOwn(STREAMS, given);

const channelOf = (params: Parameters): string => {
  const [stream, channel] = [textOf(params, 'stream'), textOf(params, 'event_name')];
  if (stream === undefined || stream === '') return channel ?? '';
  const named = Object.hasOwn(STREAMS, stream) ? STREAMS[stream] : undefined;
  if (named === undefined) throw invalidParameter('stream', stream, `must be ${Object.keys(STREAMS).join(', ')}`);
  if (channel !== undefined && channel !== named)
    throw invalidParameter('event_name', channel, 'must be left out beside stream, which names the channel');
  return named;
};

const lastEventId = (request: Request, params: Parameters): string | undefined => {
  const given = request.headers['last-event-id'] ?? textOf(params, 'last_event_id');
  if (typeof given !== 'string' || given === '') return undefined;
  if (sortableEventId(given) === undefined)
    throw invalidParameter('last_event_id', given, 'must be an event id such as 1700000000000-0');
  return given;
};

const isSet = (params: Parameters, field: string): boolean => {
  const given = params[field];
  const flag = given === undefined || given === '' ? false : flagOf(given);
  if (flag === undefined) throw invalidParameter(field, given, `must be 1 or 0`);
  return flag;
};

/** Undefined for a value that is not a flag. */
const flagOf = (given: unknown): boolean | undefined => {
  if (given === '0' || given === 'false' || given === false || given === 0) return false;
  return given === '1' || given === 'true' || given === true || given === 1 ? true : undefined;
};
