import { Controller, Get, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { list } from '#libs/http/replies.js';
import { named, text, type TypeOf } from '#libs/http/reply-schema.js';
import { memberOf } from '#libs/http/workspace.js';
import { derivedId } from '#libs/kernel/ids.js';

/** See docs/reference/rest-api.md#projects. */
const Project = named('Project', {
  id: text('`proj_…`'),
  name: text('Name of the project'),
  workspace_id: text('`o_…`'),
});

@Controller(['v1/workspaces/:id/projects', 'v1/orgs/:id/projects'])
export class ListProjectsController {
  /** Every workspace has one project, for clients that need the id of one. */
  @Get()
  @Operation({ summary: 'The one project of a workspace', reply: list(Project) })
  list(@Param('id') id: string, @CurrentCaller() caller: Caller): { data: readonly TypeOf<typeof Project>[] } {
    const workspace_id = memberOf(caller, id);
    return { data: [{ id: derivedId('proj', workspace_id), name: 'Default project', workspace_id }] };
  }
}
