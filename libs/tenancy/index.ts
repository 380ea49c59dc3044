export { tenancyContext } from './context.js';
export { CallersView } from './callers-view.js';
export { bootstrap } from './set-up-user/bootstrap.js';
export { RegisterUser } from './set-up-user/register-user.handler.js';
export { KeyRegister, type RegisteredKey, type RegisteredUser as KnownUser } from './key-register.js';
export { OPERATOR } from './operator.js';
export {
  changeMemberOf,
  createWorkspaceFor,
  deleteWorkspace,
  renameWorkspace,
  type MemberChange,
} from './operator-workspaces.js';
export { type RegisteredWorkspace, WorkspaceRegister } from './workspace-register.js';
export { namesOfTools } from './domain/names-of-tools.js';
export { issueKeyFor, revokeKeyOf } from './operator-keys.js';
export { setUpUser, type SetUpResult, type SetUpUser } from './set-up-user/set-up-user.js';
export { TenancyModule } from './tenancy.module.js';
export { type LimitReply } from './list-limits/list-limits.controller.js';
export { QuotaKeeper } from './daily-quotas.js';
export { type UserDoc, usersProjection } from './read-models/users.projection.js';
export { UsageMeter } from './usage-meter.js';
export { WorkspaceContents } from './workspace-contents.js';
