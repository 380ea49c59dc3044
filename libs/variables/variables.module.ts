import { Global, Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { DeleteVariableController } from './delete-variable/delete-variable.controller.js';
import { DeleteVariableHandler } from './delete-variable/delete-variable.handler.js';
import { VARIABLE_LIMITS, type VariableLimits } from './limits.js';
import { ListVariablesController } from './list-variables/list-variables.controller.js';
import { VARIABLES } from './ports.js';
import { TOKEN_VARIABLES } from './published.js';
import { SetVariableController } from './set-variable/set-variable.controller.js';
import { SetVariableHandler } from './set-variable/set-variable.handler.js';
import { TokenHashes } from './token-hashes.js';
import { type VariablesView } from './variables-view.js';

export interface VariablesPorts {
  readonly handleCommand: HandleCommand;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly variables: VariablesView;
  readonly resourceLimits?: VariableLimits;
}

/** Global, because it publishes TOKEN_VARIABLES to the context of workflows. */
@Global()
@Module({
  controllers: [ListVariablesController, SetVariableController, DeleteVariableController],
  providers: [SetVariableHandler, DeleteVariableHandler, { provide: TOKEN_VARIABLES, useClass: TokenHashes }],
  exports: [TOKEN_VARIABLES],
})
export class VariablesModule {
  static forRoot(ports: VariablesPorts): DynamicModule {
    return {
      module: VariablesModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: VAULT, useValue: ports.vault },
        { provide: CLOCK, useValue: ports.clock },
        { provide: VARIABLES, useValue: ports.variables },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? VARIABLE_LIMITS },
      ],
    };
  }
}
