import { Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { AddMemberController } from './add-member/add-member.controller.js';
import { UsersByName } from './add-member/users-by-name.js';
import { ChangeMemberHandler } from './change-member.handler.js';
import { ChangeMemberRoleController } from './change-member-role/change-member-role.controller.js';
import { ListMembersController } from './list-members/list-members.controller.js';
import { ListMembersHandler } from './list-members/list-members.query.js';
import { ListProjectsController } from './list-projects/list-projects.controller.js';
import { RemoveMemberController } from './remove-member/remove-member.controller.js';
import { GetMeController } from './get-me/get-me.controller.js';
import { GetUserHandler } from './get-me/get-user.query.js';
import { GetWorkspaceController } from './get-workspace/get-workspace.controller.js';
import { GetWorkspacesHandler } from './get-workspace/get-workspaces.query.js';
import { IssueApiKeyController } from './issue-api-key/issue-api-key.controller.js';
import { IssueApiKeyHandler } from './issue-api-key/issue-api-key.handler.js';
import { ListApiKeysController } from './list-api-keys/list-api-keys.controller.js';
import { ListApiKeysHandler } from './list-api-keys/list-api-keys.query.js';
import { type LimitReply, ListLimitsController, SERVER_LIMITS } from './list-limits/list-limits.controller.js';
import { RevokeApiKeyController } from './revoke-api-key/revoke-api-key.controller.js';
import { RevokeApiKeyHandler } from './revoke-api-key/revoke-api-key.handler.js';
import { RegisterUserHandler } from './set-up-user/register-user.handler.js';
import { CallersView } from './callers-view.js';
import { DAILY_CREDITS } from './daily-quotas.js';
import { type Usage, USAGE } from './published.js';
import { TENANCY_LIMITS, type TenancyLimits } from './limits.js';

export interface TenancyPorts {
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
  readonly callers: CallersView;
  readonly usage: Usage;
  /** Credits that a workspace may use in a UTC day. Default: no limit. */
  readonly dailyCredits?: number;
  readonly resourceLimits?: TenancyLimits;
  /** Shown by `GET /v1/limits`. */
  readonly limits?: readonly LimitReply[];
}

@Module({
  controllers: [
    ListMembersController,
    AddMemberController,
    ChangeMemberRoleController,
    RemoveMemberController,
    ListProjectsController,
    GetMeController,
    GetWorkspaceController,
    IssueApiKeyController,
    ListApiKeysController,
    ListLimitsController,
    RevokeApiKeyController,
  ],
  providers: [
    ListMembersHandler,
    UsersByName,
    ChangeMemberHandler,
    GetUserHandler,
    GetWorkspacesHandler,
    IssueApiKeyHandler,
    ListApiKeysHandler,
    RevokeApiKeyHandler,
    RegisterUserHandler,
  ],
})
export class TenancyModule {
  static forRoot(ports: TenancyPorts): DynamicModule {
    return {
      module: TenancyModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: CLOCK, useValue: ports.clock },
        { provide: CallersView, useValue: ports.callers },
        { provide: USAGE, useValue: ports.usage },
        { provide: DAILY_CREDITS, useValue: ports.dailyCredits ?? 0 },
        { provide: SERVER_LIMITS, useValue: ports.limits ?? [] },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? TENANCY_LIMITS },
      ],
    };
  }
}
