import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { list } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { Member, type MemberReply } from '../member-reply.js';
import { ListMembers } from './list-members.query.js';

@Controller(['v1/workspaces/:id/members', 'v1/orgs/:id/members'])
export class ListMembersController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({ summary: 'Members of a workspace with their roles', reply: list(Member) })
  async list(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<{ data: readonly MemberReply[] }> {
    return { data: await this.queries.execute(new ListMembers(memberOf(caller, id))) };
  }
}
