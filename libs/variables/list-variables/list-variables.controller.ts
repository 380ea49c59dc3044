import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { list } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { VARIABLES } from '../ports.js';
import { Variable, variableReply, type VariableReply } from '../variable-reply.js';
import { type VariablesView } from '../variables-view.js';

@Controller(['v1/workspaces/:id/variables', 'v1/orgs/:id/variables'])
export class ListVariablesController {
  constructor(@Inject(VARIABLES) private readonly variables: VariablesView) {}

  @Get()
  @Operation({ summary: 'Variables of a workspace by name, without their values', reply: list(Variable) })
  list(@Param('id') id: string, @CurrentCaller() caller: Caller): { data: readonly VariableReply[] } {
    return { data: this.variables.of(memberOf(caller, id)).map(variableReply) };
  }
}
