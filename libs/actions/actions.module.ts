import { Global, Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { ACTION_RUNNER } from './ports.js';
import { ACTION_RUNS, type ActionRunner } from './published.js';
import { RunActionController } from './run-action/run-action.controller.js';
import { RunActionHandler } from './run-action/run-action.handler.js';

export interface ActionsPorts {
  readonly clock: Clock;
  readonly runner: ActionRunner;
}

/** Global, because it publishes ACTION_RUNS to another context. Needs COMPONENT_CATALOG, which ComponentsModule publishes, and ACTION_PLANS of SourcesModule. */
@Global()
@Module({
  controllers: [RunActionController],
  providers: [RunActionHandler, { provide: ACTION_RUNS, useExisting: RunActionHandler }],
  exports: [ACTION_RUNS],
})
export class ActionsModule {
  static forRoot(ports: ActionsPorts): DynamicModule {
    return {
      module: ActionsModule,
      providers: [
        { provide: CLOCK, useValue: ports.clock },
        { provide: ACTION_RUNNER, useValue: ports.runner },
      ],
    };
  }
}
