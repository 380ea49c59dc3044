import { type ServerResponse } from 'node:http';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { type Request } from 'express';
import { Semaphore } from '#libs/async/semaphore.js';
import {
  type EventStream,
  EventStreams,
  isCaughtUp,
  openStream,
  readerOf,
  type StreamOptions,
} from '#libs/event-streams/index.js';
import { TokenInQuery } from '#libs/http/access.js';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { text } from '#libs/http/reply-schema.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { RUNS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { RUNNABLE_WORKFLOWS, type RunnableWorkflows } from '../ports.js';
import { RUN_HISTORY_GROUP } from '../record-runs.js';
import { ShownRuns } from '../shown-runs.js';
import { runsShown, ShownRun } from './run-frames.js';

const TOKEN = 'API key, for programs that cannot send headers';
const repliesOf = (events: string) => ({
  200: { description: 'Server-sent events, until one of both sides ends the connection', schema: text(events) },
});

/** Whole runs that the process reads at once, for all streams that begin and for those of one user. */
const READS = 8;
const READS_PER_USER = 4;

/** docs/reference/workflows.md#run-streams */
@Controller('v1')
export class StreamRunsController {
  private readonly reads = new Semaphore(READS, () => READS_PER_USER);
  private readonly nameOf = (workflowId: string): string => this.workflows.find(workflowId)?.name ?? '';
  private readonly showRuns = runsShown(this.nameOf);

  constructor(
    private readonly streams: EventStreams,
    private readonly runs: ShownRuns,
    @Inject(RUNNABLE_WORKFLOWS) private readonly workflows: RunnableWorkflows,
    @Inject(STREAM_LOG) private readonly log: StreamLog,
    @Inject(TOPIC_POLICY) private readonly topics: TopicPolicy,
  ) {}

  @Get('workflows/:id/runs/sse')
  @TokenInQuery()
  @Operation({
    summary: 'Runs of a workflow at each change of their state (server-sent events)',
    replies: repliesOf('Lines `event: run` and `data:` with the run, and comments that keep the connection alive'),
    produces: 'text/event-stream',
    also: { access_token: TOKEN },
  })
  async ofWorkflow(
    @Param('id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const { id: emitterId, workspaceId } = this.runs.workflow(id, caller);
    const options = runsStream(emitterId, { of: 'runs' }, this.showRuns);
    const stream = await openStream(this.streams, options, readerOf(caller, workspaceId), { request, response });
    stream?.release();
  }

  @Get('runs/:id/sse')
  @TokenInQuery()
  @Operation({
    summary: 'A run and its steps as they change (server-sent events)',
    replies: repliesOf('Lines `event: run`, `step` or `log` and `data:`, and comments that keep the connection alive'),
    produces: 'text/event-stream',
    also: { access_token: TOKEN },
  })
  async ofRun(
    @Param('id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const { workflowId, workspaceId } = await this.runs.find(id, caller, 'find');
    const shown = new ShownRun(id, this.nameOf);
    const options = runsStream(workflowId, { of: 'run', run: id }, shown.show);
    const stream = await openStream(this.streams, options, readerOf(caller, workspaceId), { request, response });
    if (stream) await this.begin(stream, id, caller, shown);
  }

  /** Sends what the history has, once it has all that the stream did not hear. */
  private async begin(stream: EventStream, id: string, caller: Caller, shown: ShownRun): Promise<void> {
    const { emitterId } = stream.options;
    const lane = { group: RUN_HISTORY_GROUP, topic: this.topics.runs(emitterId), key: emitterId };
    try {
      if (!(await isCaughtUp(this.log, lane))) return stream.end('events not readable in time');
      const begun = await this.reads.run(caller.userId, async () => {
        if (stream.isOver) return [];
        const run = await this.runs.find(id, caller, 'whole');
        return [shown.begin(run, await this.runs.shown(run))];
      });
      await this.streams.replay(stream, begun);
      stream.release();
    } catch (error) {
      // The headers are sent, so the client cannot be answered. It connects again.
      stream.end('read failed', error);
    }
  }
}

const runsStream = (emitterId: string, about: StreamOptions['about'], show: StreamOptions['show']): StreamOptions => ({
  emitterId,
  reads: [{ topics: RUNS, key: emitterId }],
  keepAlive: 'sse-handshake',
  about,
  show,
});
