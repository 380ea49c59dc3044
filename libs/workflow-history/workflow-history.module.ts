import { Global, Module, type DynamicModule } from '@nestjs/common';
import { EventStreams } from '#libs/event-streams/index.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { BLOBS, CLOCK, HANDLE_COMMAND } from '#libs/kernel/tokens.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { BulkReplayController } from './bulk/bulk-replay.controller.js';
import { type BulkReplaysView } from './bulk/bulk-replays-view.js';
import { CancelBulkReplayHandler } from './bulk/cancel-bulk-replay.handler.js';
import { CancelRunsController } from './bulk/cancel-runs.controller.js';
import { StartBulkReplayHandler } from './bulk/start-bulk-replay.handler.js';
import { DeleteRunController } from './delete-run/delete-run.controller.js';
import { GetRunController } from './get-run/get-run.controller.js';
import { InvokedRuns } from './invoke-workflow/invoked-runs.js';
import { InvokeWorkflowController } from './invoke-workflow/invoke-workflow.controller.js';
import { ListRunsController } from './list-runs/list-runs.controller.js';
import {
  BULK_REPLAYS,
  RUN_CANCELS,
  RUN_HISTORY,
  RUN_STEERING,
  type RunCancels,
  RUNNABLE_WORKFLOWS,
  type RunnableWorkflows,
  type RunSteering,
  WORKFLOW_INVOKES,
  type WorkflowInvokes,
} from './ports.js';
import { TOOL_RUNS } from './published.js';
import { ReplayRunController } from './replay-run/replay-run.controller.js';
import { type RunHistory } from './run-history.js';
import { ShownRuns } from './shown-runs.js';
import { SteerRunController } from './steer-run/steer-run.controller.js';
import { StreamRunsController } from './stream-runs/stream-runs.controller.js';

export interface WorkflowHistoryPorts {
  readonly runHistory: RunHistory;
  readonly runnableWorkflows: RunnableWorkflows;
  readonly runSteering: RunSteering;
  readonly workflowInvokes: WorkflowInvokes;
  readonly workflowTopics: RunCancels;
  readonly bulkReplays: BulkReplaysView;
  readonly blobs: BlobStore;
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
  readonly eventStreams: EventStreams;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
}

/** Global, because it publishes TOOL_RUNS to another context. */
@Global()
@Module({
  controllers: [
    ListRunsController,
    GetRunController,
    DeleteRunController,
    SteerRunController,
    InvokeWorkflowController,
    CancelRunsController,
    BulkReplayController,
    ReplayRunController,
    StreamRunsController,
  ],
  providers: [
    ShownRuns,
    InvokedRuns,
    StartBulkReplayHandler,
    CancelBulkReplayHandler,
    { provide: TOOL_RUNS, useExisting: InvokedRuns },
  ],
  exports: [TOOL_RUNS],
})
export class WorkflowHistoryModule {
  static forRoot(ports: WorkflowHistoryPorts): DynamicModule {
    return {
      module: WorkflowHistoryModule,
      providers: [
        { provide: RUN_HISTORY, useValue: ports.runHistory },
        { provide: BULK_REPLAYS, useValue: ports.bulkReplays },
        { provide: BLOBS, useValue: ports.blobs },
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: RUN_CANCELS, useValue: ports.workflowTopics },
        { provide: RUN_STEERING, useValue: ports.runSteering },
        { provide: RUNNABLE_WORKFLOWS, useValue: ports.runnableWorkflows },
        { provide: WORKFLOW_INVOKES, useValue: ports.workflowInvokes },
        { provide: CLOCK, useValue: ports.clock },
        { provide: EventStreams, useValue: ports.eventStreams },
        { provide: STREAM_LOG, useValue: ports.log },
        { provide: TOPIC_POLICY, useValue: ports.topics },
      ],
    };
  }
}
