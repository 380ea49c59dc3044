import { Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { integerFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { RequestRepeatId } from '#libs/http/repeat-id.js';
import { one } from '#libs/http/replies.js';
import { integer, milliseconds, named, nullable, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type RepeatId } from '#libs/http/request-state.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shownId } from '#libs/kernel/ids.js';
import { BULK_REPLAYS } from '../ports.js';
import { REPLAY_VERSIONS, type ReplayVersion } from '../replay-run/begin-replay.js';
import { noDraft, workflowInactive } from '../replay-run/replay-run.controller.js';
import { ShownRuns } from '../shown-runs.js';
import { type BulkReplaysView, type KnownBulkReplay } from './bulk-replays-view.js';
import { CancelBulkReplay } from './cancel-bulk-replay.handler.js';
import { FILTER_MEANING, runSelectorIn, SelectRunsDto } from './run-selector.js';
import { StartBulkReplay } from './start-bulk-replay.handler.js';

const RATE = 10;

class BulkReplayDto extends SelectRunsDto {
  @Meaning('Where each replay begins: `start` (the default), `failed`, or the namespace of a step')
  @IsOptional()
  @IsString()
  @Length(1, 64)
  from?: string;

  @Meaning(
    'Version that they run: `current` (the default) is the deployed one, `same` that of each run, `draft` the draft, as tests',
  )
  @IsOptional()
  @IsIn(REPLAY_VERSIONS)
  version?: ReplayVersion;

  @Meaning('Runs a second, 1 to 100; 10 by default')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  @Max(100)
  rate?: number | null;
}

const StartedReply = named('StartedBulkReplay', {
  id: text('`rpl_…`'),
  matched: integer('Number of runs that will be replayed'),
  rate: integer('Runs a second'),
});

/** docs/reference/workflows.md#bulk-replay */
const BulkReplayReply = named('BulkReplay', {
  id: text('`rpl_…`'),
  workflow_id: text('`p_…`'),
  state: oneOf(['running', 'finished', 'cancelled'], 'How far it is'),
  from: text('Where each replay begins'),
  version: oneOf(REPLAY_VERSIONS, 'Version that the replays run'),
  rate: integer('Runs a second'),
  matched: integer('Number of selected runs'),
  started: integer('Replays that have begun'),
  passed_over: integer('Runs that could not be replayed any more when their turn came'),
  waiting: integer('Runs whose turn is still to come; 0 once it has ended'),
  started_at_ms: milliseconds('Epoch milliseconds'),
  ended_at_ms: nullable(milliseconds('Epoch milliseconds')),
});

const recordOf = ({ id, replay }: KnownBulkReplay): TypeOf<typeof BulkReplayReply> => ({
  id,
  workflow_id: replay.workflowId,
  state: replay.state,
  from: replay.from,
  version: replay.version,
  rate: replay.rate,
  matched: replay.matched,
  started: replay.started,
  passed_over: replay.passedOver,
  waiting: replay.state === 'running' ? replay.matched - replay.next : 0,
  started_at_ms: replay.startedAt,
  ended_at_ms: replay.endedAt,
});

@Controller('v1/workflows/:id/runs/replay')
export class BulkReplayController {
  constructor(
    private readonly runs: ShownRuns,
    private readonly commands: CommandBus,
    @Inject(BULK_REPLAYS) private readonly replays: BulkReplaysView,
  ) {}

  @Post()
  @Operation({
    summary: 'Replay many ended runs of a workflow',
    body: BulkReplayDto,
    objects: { filter: FILTER_MEANING },
    reply: one(StartedReply),
    refusals: [409],
  })
  @HttpCode(202)
  async start(
    @Param('id') w: string,
    @Params('body_wins', BulkReplayDto) options: BulkReplayDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
    @Context() contextIn: ContextIn,
    @RequestRepeatId() repeat: RepeatId | undefined,
  ): Promise<Changed<{ data: TypeOf<typeof StartedReply> }>> {
    const workflow = this.runs.workflow(w, caller);
    const selector = runSelectorIn(options, params);
    const { from = 'start', version = 'current', rate } = options;
    if (version === 'draft' && !workflow.draft) throw noDraft(workflow.id);
    if (version !== 'draft' && !workflow.active) throw workflowInactive(workflow.id);
    const asked = { from, version, rate: rate ?? RATE };
    const context = contextIn(workflow.workspaceId);
    const command = new StartBulkReplay(workflow, selector, asked, await repeat?.(), context);
    const { position, ...started } = await this.commands.execute(command);
    return new Changed(position, { data: started });
  }

  @Get(':replayId')
  @Operation({ summary: 'Progress of a bulk replay', reply: one(BulkReplayReply) })
  find(
    @Param('id') w: string,
    @Param('replayId') replayId: string,
    @CurrentCaller() caller: Caller,
  ): { data: TypeOf<typeof BulkReplayReply> } {
    return { data: recordOf(this.known(w, replayId, caller)) };
  }

  @Delete(':replayId')
  @Operation({ summary: 'Cancel the rest of a bulk replay' })
  @HttpCode(204)
  async cancel(
    @Param('id') w: string,
    @Param('replayId') replayId: string,
    @CurrentCaller() caller: Caller,
    @Context() contextIn: ContextIn,
  ): Promise<Changed> {
    const { workspaceId } = this.known(w, replayId, caller);
    return new Changed(await this.commands.execute(new CancelBulkReplay(replayId, contextIn(workspaceId))));
  }

  private known(w: string, replayId: string, caller: Caller): KnownBulkReplay {
    const { id } = this.runs.workflow(w, caller);
    const found = this.replays.find(replayId);
    if (found?.replay.workflowId === id) return found;
    const message = `workflow ${id} has no bulk replay ${shownId(replayId)}, or it ended over a day ago`;
    throw new DomainError('run.bulk_replay_not_found', message, { id: shownId(replayId) });
  }
}
