import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { list, one } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { DAILY_CREDITS } from '../daily-quotas.js';
import { USAGE, type Usage } from '../published.js';
import { type Caller } from '#libs/http/callers.js';
import { GetWorkspaces } from './get-workspaces.query.js';
import { Workspace, workspaceReply, type WorkspaceReply } from './workspace-reply.js';

@Controller('v1')
export class GetWorkspaceController {
  constructor(
    private readonly queries: QueryBus,
    @Inject(USAGE) private readonly usage: Usage,
    @Inject(DAILY_CREDITS) private readonly dailyCredits: number,
  ) {}

  /** Both paths answer alike. See docs/reference/rest-api.md#workspace-get. */
  @Get(['workspaces/:id', 'orgs/:id'])
  @Operation({ summary: 'One workspace, with usage', reply: one(Workspace) })
  async one(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<{ data: WorkspaceReply }> {
    const [workspace] = await this.queries.execute(new GetWorkspaces([memberOf(caller, id)]));
    if (!workspace) throw new DomainError('workspace.not_found', `there is no workspace ${id}`, { id });
    return { data: workspaceReply(workspace, await this.usage.ofToday(id), this.dailyCredits) };
  }

  @Get('users/me/workspaces')
  @Operation({ summary: 'The workspaces of the user', reply: list(Workspace) })
  async mine(@CurrentCaller() caller: Caller): Promise<{ data: readonly WorkspaceReply[] }> {
    const workspaces = await this.queries.execute(new GetWorkspaces(caller.workspaceIds));
    const replies = workspaces.map(async (workspace) =>
      workspaceReply(workspace, await this.usage.ofToday(workspace.id), this.dailyCredits),
    );
    return { data: await Promise.all(replies) };
  }
}
