import { Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { ConnectAccountController } from './connect-account/connect-account.controller.js';
import { ConnectAccountHandler } from './connect-account/connect-account.handler.js';
import { DisconnectAccountController } from './disconnect-account/disconnect-account.controller.js';
import { DisconnectAccountHandler } from './disconnect-account/disconnect-account.handler.js';
import { GetAccountController } from './get-account/get-account.controller.js';
import { ShowCredentialsHandler } from './get-account/show-credentials.handler.js';
import { ListAccountsController } from './list-accounts/list-accounts.controller.js';
import { ListAccountsHandler } from './list-accounts/list-accounts.query.js';
import { ACCOUNT_ENV } from './ports.js';
import { UpdateAccountController } from './update-account/update-account.controller.js';
import { UpdateAccountHandler } from './update-account/update-account.handler.js';
import { ACCOUNT_LIMITS, type AccountLimits } from './limits.js';

export interface AccountsPorts {
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly resourceLimits?: AccountLimits;
  /** Names of variables that credentials may refer to. */
  readonly allowedEnv: readonly string[];
}

@Module({
  controllers: [
    ConnectAccountController,
    ListAccountsController,
    GetAccountController,
    UpdateAccountController,
    DisconnectAccountController,
  ],
  providers: [
    ConnectAccountHandler,
    ListAccountsHandler,
    ShowCredentialsHandler,
    UpdateAccountHandler,
    DisconnectAccountHandler,
  ],
})
export class AccountsModule {
  static forRoot(ports: AccountsPorts): DynamicModule {
    return {
      module: AccountsModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: VAULT, useValue: ports.vault },
        { provide: CLOCK, useValue: ports.clock },
        { provide: ACCOUNT_ENV, useValue: ports.allowedEnv },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? ACCOUNT_LIMITS },
      ],
    };
  }
}
