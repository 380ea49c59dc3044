import { auditable } from '#libs/kernel/auditable.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type Context } from '#libs/kernel/context.js';
import { CallersView } from './callers-view.js';
import { apiKey } from './domain/api-key.js';
import { user } from './domain/user.js';
import { workspace } from './domain/workspace.js';
import { TENANCY_LIMITS } from './limits.js';
import { apiKeysProjection } from './read-models/api-keys.projection.js';
import { usersProjection } from './read-models/users.projection.js';
import { workspacesProjection } from './read-models/workspaces.projection.js';
import { TenancyModule, type TenancyPorts } from './tenancy.module.js';

export const tenancyContext = {
  projections: [usersProjection, workspacesProjection, apiKeysProjection],
  views: (clock: Clock) => ({ callers: new CallersView(clock) }),
  ids: ['o', 'u', 'key'],
  limits: TENANCY_LIMITS,
  auditable: [auditable('u', user), auditable('o', workspace), auditable('key', apiKey)],
  workspaceAudit: [workspace.category, apiKey.category],
  module: (ports: TenancyPorts) => TenancyModule.forRoot(ports),
} as const satisfies Context;
