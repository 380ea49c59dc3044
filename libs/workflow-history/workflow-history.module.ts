import { Module, type DynamicModule } from '@nestjs/common';
import { DeleteRunController } from './delete-run/delete-run.controller.js';
import { GetRunController } from './get-run/get-run.controller.js';
import { ListRunsController } from './list-runs/list-runs.controller.js';
import { RUN_HISTORY, RUNNABLE_WORKFLOWS, type RunnableWorkflows } from './ports.js';
import { type RunHistory } from './run-history.js';
import { ShownRuns } from './shown-runs.js';

export interface WorkflowHistoryPorts {
  readonly runHistory: RunHistory;
  readonly runnableWorkflows: RunnableWorkflows;
}

@Module({
  controllers: [ListRunsController, GetRunController, DeleteRunController],
  providers: [ShownRuns],
})
export class WorkflowHistoryModule {
  static forRoot(ports: WorkflowHistoryPorts): DynamicModule {
    return {
      module: WorkflowHistoryModule,
      providers: [
        { provide: RUN_HISTORY, useValue: ports.runHistory },
        { provide: RUNNABLE_WORKFLOWS, useValue: ports.runnableWorkflows },
      ],
    };
  }
}
