import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { GetMeController } from './get-me/get-me.controller.js';
import { GetUserHandler } from './get-me/get-user.query.js';
import { GetWorkspaceController } from './get-workspace/get-workspace.controller.js';
import { GetWorkspacesHandler } from './get-workspace/get-workspaces.query.js';
import { IssueApiKeyController } from './issue-api-key/issue-api-key.controller.js';
import { IssueApiKeyHandler } from './issue-api-key/issue-api-key.handler.js';
import { ListApiKeysController } from './list-api-keys/list-api-keys.controller.js';
import { ListApiKeysHandler } from './list-api-keys/list-api-keys.query.js';
import { RevokeApiKeyController } from './revoke-api-key/revoke-api-key.controller.js';
import { RevokeApiKeyHandler } from './revoke-api-key/revoke-api-key.handler.js';
import { RegisterUserHandler } from './set-up-user/register-user.handler.js';

/** Needs from a global module: HANDLE_COMMAND, READ_MODELS, CLOCK, USAGE, CallersView, and HttpModule's exports. */
@Module({
  imports: [CqrsModule],
  controllers: [
    GetMeController,
    GetWorkspaceController,
    IssueApiKeyController,
    ListApiKeysController,
    RevokeApiKeyController,
  ],
  providers: [
    GetUserHandler,
    GetWorkspacesHandler,
    IssueApiKeyHandler,
    ListApiKeysHandler,
    RevokeApiKeyHandler,
    RegisterUserHandler,
  ],
})
export class TenancyModule {}
