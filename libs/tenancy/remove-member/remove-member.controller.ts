import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { memberOf } from '#libs/http/workspace.js';
import { mustBeOwner, WritesOwn } from '#libs/http/writes.guard.js';
import { ChangeMember } from '../change-member.handler.js';

@Controller('v1/workspaces/:id/members')
export class RemoveMemberController {
  constructor(private readonly commands: CommandBus) {}

  /** Any member may leave, whatever the role. Resources that the member created stay in the workspace. */
  @Delete(':userId')
  @WritesOwn()
  @Operation({ summary: 'Remove a member from a workspace, or leave it' })
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Param('userId') userId: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    memberOf(caller, id);
    if (userId !== caller.userId) mustBeOwner(caller, id);
    const { position } = await this.commands.execute(
      new ChangeMember({ type: 'remove_member', userId }, contextIn(id)),
    );
    return new Changed(position);
  }
}
