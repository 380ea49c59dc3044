import { Module, type DynamicModule } from '@nestjs/common';
import { DeleteRunController } from './delete-run/delete-run.controller.js';
import { GetRunController } from './get-run/get-run.controller.js';
import { ListRunsController } from './list-runs/list-runs.controller.js';
import { RUN_HISTORY, RUN_STEERING, RUNNABLE_WORKFLOWS, type RunnableWorkflows, type RunSteering } from './ports.js';
import { type RunHistory } from './run-history.js';
import { ShownRuns } from './shown-runs.js';
import { SteerRunController } from './steer-run/steer-run.controller.js';

export interface WorkflowHistoryPorts {
  readonly runHistory: RunHistory;
  readonly runnableWorkflows: RunnableWorkflows;
  readonly runSteering: RunSteering;
}

@Module({
  controllers: [ListRunsController, GetRunController, DeleteRunController, SteerRunController],
  providers: [ShownRuns],
})
export class WorkflowHistoryModule {
  static forRoot(ports: WorkflowHistoryPorts): DynamicModule {
    return {
      module: WorkflowHistoryModule,
      providers: [
        { provide: RUN_HISTORY, useValue: ports.runHistory },
        { provide: RUN_STEERING, useValue: ports.runSteering },
        { provide: RUNNABLE_WORKFLOWS, useValue: ports.runnableWorkflows },
      ],
    };
  }
}
