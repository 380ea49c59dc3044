import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { memberOf } from '#libs/http/workspace.js';
import { DeleteVariable } from './delete-variable.handler.js';

@Controller('v1/workspaces/:id/variables')
export class DeleteVariableController {
  constructor(private readonly commands: CommandBus) {}

  @Delete(':name')
  @Operation({ summary: 'Delete a variable of a workspace and its value' })
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Param('name') name: string,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed> {
    const { position } = await this.commands.execute(new DeleteVariable(name, contextIn(memberOf(caller, id))));
    return new Changed(position);
  }
}
