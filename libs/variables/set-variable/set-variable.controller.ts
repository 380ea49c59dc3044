import { Controller, HttpCode, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsString, Length } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { MAX_VALUE_BYTES } from '../domain/variable.js';
import { Variable, variableReply, type VariableReply } from '../variable-reply.js';
import { SetVariable } from './set-variable.handler.js';

class SetVariableDto {
  @Meaning('Up to 65,536 bytes of UTF-8; it is encrypted')
  @IsString()
  @Length(1, MAX_VALUE_BYTES)
  value!: string;
}

@Controller('v1/workspaces/:id/variables')
export class SetVariableController {
  constructor(private readonly commands: CommandBus) {}

  @Put(':name')
  @Operation({ summary: 'Set a variable of a workspace', body: SetVariableDto, reply: one(Variable) })
  @HttpCode(200)
  async set(
    @Param('id') id: string,
    @Param('name') name: string,
    @Params('body_wins', SetVariableDto) { value }: SetVariableDto,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<{ data: VariableReply }>> {
    const command = new SetVariable(name, value, contextIn(memberOf(caller, id)));
    const { updatedAt, position } = await this.commands.execute(command);
    return new Changed(position, { data: variableReply({ name, updatedAt }) });
  }
}
