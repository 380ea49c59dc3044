import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
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
import { UsersByName } from './users-by-name.js';

class AddMemberDto {
  @Meaning('`u_…`, a user that exists; or one of `email` and `username`')
  @IsOptional()
  @IsString()
  @MaxLength(254)
  user_id?: string | null;
  @Meaning('Address of the user, in any case')
  @IsOptional()
  @IsString()
  @MaxLength(254)
  email?: string | null;
  @Meaning('Name of the user, exactly')
  @IsOptional()
  @IsString()
  @MaxLength(254)
  username?: string | null;
  @Meaning('What the user may do: each role includes the next')
  @IsOptional()
  @IsIn(ROLES)
  role?: Role;
}

@Controller('v1/workspaces/:id/members')
export class AddMemberController {
  constructor(
    private readonly commands: CommandBus,
    private readonly users: UsersByName,
  ) {}

  /** Adds a user that the operator has created. The same user with the same role again changes nothing. */
  @Post()
  @Operation({ summary: 'Add a user to a workspace', body: AddMemberDto, reply: one(Member) })
  @HttpCode(200)
  async add(
    @Param('id') id: string,
    @Params('body_wins', AddMemberDto) { role = 'member', ...named }: AddMemberDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: MemberReply }>> {
    mustBeOwner(caller, memberOf(caller, id));
    const userId = await this.users.idOf(named);
    const command = new ChangeMember({ type: 'add_member', userId, role }, contextIn(id));
    const { position, member } = await this.commands.execute(command);
    return new Changed(position, { data: member as MemberReply });
  }
}
