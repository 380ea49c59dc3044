import { Controller, HttpCode, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsIn } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { mustBeOwner } from '#libs/http/writes.guard.js';
import { ChangeMember } from '../change-member.handler.js';
import { Member, type MemberReply } from '../member-reply.js';
import { type Role, ROLES } from '../published.js';
import { Meaning } from '#libs/http/meaning.js';

class ChangeRoleDto {
  @Meaning('What the user may do: each role includes the next')
  @IsIn(ROLES)
  role!: Role;
}

@Controller('v1/workspaces/:id/members')
export class ChangeMemberRoleController {
  constructor(private readonly commands: CommandBus) {}

  @Put(':userId')
  @Operation({ summary: 'Give a member another role', body: ChangeRoleDto, reply: one(Member) })
  @HttpCode(200)
  async change(
    @Param('id') id: string,
    @Param('userId') userId: string,
    @Params('body_wins', ChangeRoleDto) { role }: ChangeRoleDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: MemberReply }>> {
    mustBeOwner(caller, memberOf(caller, id));
    const command = new ChangeMember({ type: 'change_role', userId, role }, contextIn(id));
    const { position, member } = await this.commands.execute(command);
    return new Changed(position, { data: member as MemberReply });
  }
}
