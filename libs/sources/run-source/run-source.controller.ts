import { Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { RawJson } from '#libs/http/raw-json.js';
import { one } from '#libs/http/replies.js';
import {
  anyJson,
  boolean,
  integer,
  listOf,
  milliseconds,
  named,
  nullable,
  object,
  oneOf,
  optional,
  text,
  type FieldsOf,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { type Caller } from '#libs/http/callers.js';
import { type ToldEmit } from '#libs/component-model/run-output.js';
import { LocateSource } from '../locate-source.js';
import { type Observation } from '../published.js';
import { RunSourceDto } from './run-source.dto.js';
import { RunSource } from './run-source.handler.js';

/** See docs/reference/errors.md#hook-observations. */
const ObservationReply = named('Observation', {
  k: text('`hook`, `error`, `console.log`, …'),
  ts: milliseconds(),
  h: optional(oneOf(['deploy', 'activate', 'deactivate'], 'With k `hook`: its name')),
  msg: optional(text('The line that was logged')),
  err: optional(
    object(
      {
        name: text('Name of the error'),
        message: text('Its message'),
        stack: text('Its stack, in lines of the author'),
      },
      'With k `error`: what was thrown',
    ),
  ),
} satisfies FieldsOf<Observation>);

const Invocation = named('Invocation', { id: text('`inv_…`') });

const Run = named('Run', {
  ...Invocation.fields,
  ended: boolean('False when the run had not ended in time; it runs all the same'),
  observations: listOf(ObservationReply, 'What the run logged, and its error last; empty when `ended` is false'),
  ms: nullable(integer('Milliseconds that the run took; null when `ended` is false')),
  status: nullable(oneOf(['ok', 'threw', 'killed'], 'How it ended; null when `ended` is false')),
  emits: listOf(
    named('RunEmit', {
      event_name: text('Channel, empty for the default one'),
      event: anyJson<RawJson>('The payload'),
      summary: nullable(text('As given to `$emit`')),
      dropped: nullable(oneOf(['dedupe'], 'Set when no event came of it')),
    }),
    'The first 100 emits within 256 KB; empty when `ended` is false',
  ),
});

type RunReply = TypeOf<typeof Invocation> & Partial<TypeOf<typeof Run>>;

/** An extension: 202, or 200 with the observations when `wait=true`. See docs/reference/rest-api.md#source-run. */
@Controller('v1/sources')
export class RunSourceController {
  constructor(
    private readonly commands: CommandBus,
    private readonly sources: LocateSource,
  ) {}

  @Post(':idOrSlug/run')
  @Operation({
    summary: 'Run a source by hand',
    body: RunSourceDto,
    objects: { event: 'What run receives' },
    reply: one(Invocation),
    replies: { 200: { description: 'With `wait=true`', schema: one(Run) } },
  })
  @HttpCode(202)
  async run(
    @Param('idOrSlug') idOrSlug: string,
    @Params('body_wins', RunSourceDto) body: RunSourceDto,
    @Params('body_wins') params: Parameters,
    @Res({ passthrough: true }) response: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: RunReply }> {
    const wait = body.wait ?? false;
    const { sourceId, workspaceId } = await this.sources.locate(idOrSlug, caller);
    const command = new RunSource(sourceId, workspaceId, params['event'], wait);
    const { invocationId: id, ended = true, observations, end } = await this.commands.execute(command);
    if (!observations) return { data: { id } };
    response.status(200);
    const { ms, status, emits } = end ?? { ms: null, status: null, emits: [] };
    return { data: { id, ended, observations, ms, status, emits: emits.map(emitReply) } };
  }
}

const emitReply = ({ channel, payload, summary, dropped }: ToldEmit) => ({
  event_name: channel,
  event: new RawJson(payload),
  summary,
  dropped,
});
