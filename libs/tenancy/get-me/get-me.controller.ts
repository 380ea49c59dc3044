import { Controller, Get, Inject } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { one } from '#libs/http/replies.js';
import { type TypeOf } from '#libs/http/reply-schema.js';
import { GetWorkspaces } from '../get-workspace/get-workspaces.query.js';
import { usageReply, User, workspaceReply } from '../get-workspace/workspace-reply.js';
import { workspaceOfAccount } from '#libs/http/workspace.js';
import { apiKeyReply } from '../api-key-reply.js';
import { DAILY_CREDITS } from '../daily-quotas.js';
import { USAGE, type Usage } from '../published.js';
import { type Caller } from '#libs/http/callers.js';
import { GetUser } from './get-user.query.js';

@Controller('v1/users/me')
export class GetMeController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(USAGE) private readonly usage: Usage,
    @Inject(DAILY_CREDITS) private readonly dailyCredits: number,
  ) {}

  /** Clients find the id of their workspace in `orgs`. See docs/reference/rest-api.md#user-fields. */
  @Get()
  @Operation({ summary: 'The user of this API key, with usage and workspaces', reply: one(User) })
  async me(@CurrentCaller() caller: Caller): Promise<{ data: TypeOf<typeof User> }> {
    const { userId, apiKeyId, roleIn } = caller;
    const { user, key } = await this.queries.execute(new GetUser(userId, apiKeyId));
    const { id, username, email } = user;
    const workspaces = await this.queries.execute(new GetWorkspaces(caller.workspaceIds));
    const used = await Promise.all(
      workspaces.map(async (workspace) => ({ workspace, usage: await this.usage.ofToday(workspace.id) })),
    );
    // Usage of workspaces that others added the user to does not count as the user's.
    const own = used.filter(({ workspace: { id } }) => id === workspaceOfAccount(caller));
    const counted = own.length > 0 ? own : used;
    const total = {
      computeMs: counted.reduce((sum, { usage }) => sum + usage.computeMs, 0),
      invocations: counted.reduce((sum, { usage }) => sum + usage.invocations, 0),
    };
    const orgs = used.map(({ workspace, usage }) => ({
      ...workspaceReply(workspace, usage, this.dailyCredits),
      role: roleIn?.(workspace.id) ?? ('owner' as const),
    }));
    const { created_at: _, tools: _tools, ...api_key } = apiKeyReply(key);
    return { data: { id, username, email, ...usageReply(total), api_key, orgs } };
  }
}
