import { Controller, Get, Inject, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Min } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { integerFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { type Warned, warned, type Warning } from '#libs/kernel/warning.js';
import { type JsonObject } from '../domain/check-shape.js';
import { differencesOf } from '../domain/differences.js';
import { type WorkflowRecord } from '../domain/workflow.js';
import { yamlOf } from '../domain/yaml-of.js';
import { findVersion } from '../find-version.js';
import { GetWorkflow } from '../get-workflow/get-workflow.query.js';
import { WORKFLOW_VERSIONS, type WorkflowVersions } from '../ports.js';
import { ShownWorkflows } from '../shown-workflows.js';
import { shownDefinition, VersionDiff, type VersionDiffReply } from '../workflow-reply.js';
import { unifiedDiff } from './unified-diff.js';

class CompareVersionsDto {
  @Meaning('Number of the version to compare with; the one before by default')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  with?: number;
}

/** Characters of a definition as JSON that are written as YAML and compared by lines while other requests wait. */
const MAX_CHARS = 1024 * 1024;

const charsOf = (definition: JsonObject): number => JSON.stringify(definition).length;

const textLeftOut = (chars: number): Warning => ({
  code: 'text_left_out',
  message: `text is null because a definition has ${chars} characters as JSON, and ${MAX_CHARS} is the most: changes has them all`,
  path: 'text',
});

/** docs/reference/workflows.md#version-diff */
@Controller('v1/workflows/:id/versions/:version/diff')
export class CompareVersionsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly shown: ShownWorkflows,
    @Inject(WORKFLOW_VERSIONS) private readonly workflows: WorkflowVersions,
  ) {}

  @Get()
  @Operation({
    summary: 'What a version of a workflow changes in another',
    query: CompareVersionsDto,
    reply: oneWarned(VersionDiff),
  })
  async compare(
    @Param('id') w: string,
    @Param('version') number: string,
    @Params('query_wins', CompareVersionsDto) { with: other }: CompareVersionsDto,
    @CurrentCaller() caller: Caller,
  ): Promise<Warned<VersionDiffReply>> {
    const { id, workflow } = await this.queries.execute(new GetWorkflow(w, caller));
    const after = findVersion(this.workflows, id, number);
    const from = other ?? (after.version > 1 ? after.version - 1 : null);
    const before = from === null ? undefined : findVersion(this.workflows, id, String(from));
    const [former, present] = await Promise.all([
      before === undefined ? {} : this.definition(workflow, before.versionHash),
      this.definition(workflow, after.versionHash),
    ]);
    const left = [former, present].map(charsOf).find((chars) => chars > MAX_CHARS);
    const text =
      left === undefined
        ? await unifiedDiff(
            { name: from === null ? '/dev/null' : `version ${from}`, text: from === null ? '' : yamlOf(former) },
            { name: `version ${after.version}`, text: yamlOf(present) },
          )
        : null;
    const data = { from, to: after.version, changes: differencesOf(former, present), text };
    return warned(data, left === undefined ? [] : [textLeftOut(left)]);
  }

  private async definition(workflow: WorkflowRecord, versionHash: string) {
    return shownDefinition(workflow, (await this.shown.version(versionHash)).definition);
  }
}
