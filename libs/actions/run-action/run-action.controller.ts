import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import {
  anyJson,
  listOf,
  milliseconds,
  named,
  object,
  optional,
  record,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { withWarnings } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { warningsIn } from '#libs/kernel/warning.js';
import { RunActionDto } from './run-action.dto.js';
import { type RanAction } from '../published.js';
import { RunAction } from './run-action.handler.js';

/** See docs/reference/rest-api.md#action-observations. */
const ActionObservation = named('ActionObservation', {
  k: text('`console.log`, `warning`, `flow.exit`, `send.http`, … or `error`'),
  ts: milliseconds(),
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
});

const ActionRun = named('ActionRun', {
  exports: record('Named exports of the action'),
  os: listOf(ActionObservation, 'What the run logged and asked for'),
  ret: anyJson('What `run` returned, null when it returned nothing'),
  ...withWarnings,
});

type Observation = TypeOf<typeof ActionObservation>;

/** Runs an action outside of a workflow (docs/reference/rest-api.md#action-run). */
@Controller('v1/actions')
export class RunActionController {
  constructor(private readonly commands: CommandBus) {}

  @Post('run')
  @Operation({
    summary: 'Run an action once',
    body: RunActionDto,
    objects: { configured_props: 'Values for the props of the action' },
    reply: ActionRun,
  })
  @HttpCode(200)
  async run(
    @Params('body_wins', RunActionDto) body: RunActionDto,
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<TypeOf<typeof ActionRun>> {
    const dynamicPropsId = body.dynamic_props_id === '' ? undefined : body.dynamic_props_id;
    const configured = { props: params['configured_props'], dynamicPropsId };
    const context = contextIn(workspaceOf(caller));
    const outcome = await this.commands.execute(new RunAction(body.id, configured, context));
    if (outcome.error) throw failed(outcome, outcome.error);
    const { exports, ret = null } = outcome.answer;
    return { exports, os: outcome.logs.map(observed), ret, ...warningsIn(outcome.warnings) };
  }
}

const observed = ({ k, ts, msg }: LogLine): Observation => ({ k, ts, msg });

const failed = ({ logs, endedAt, warnings }: RanAction, { name, message, stack, code }: UserError): DomainError =>
  new DomainError('action.failed', `${name}: ${message}`, {
    name,
    message,
    error_code: code,
    os: [...logs.map(observed), { k: 'error', ts: endedAt, err: { name, message, stack } }],
    ...warningsIn(warnings),
  });
