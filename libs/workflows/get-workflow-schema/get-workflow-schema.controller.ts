import { Controller, Get, Inject } from '@nestjs/common';
import { OpenToAll } from '#libs/http/access.js';
import { Operation } from '#libs/http/operation.js';
import { record } from '#libs/http/reply-schema.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { definitionSchema } from '../domain/json-schema.js';
import { type WorkflowLimits } from '../limits.js';

/** Describes definitions to editors (docs/reference/workflows.md#schema). */
@Controller('v1/workflows')
export class GetWorkflowSchemaController {
  private readonly schema: Readonly<Record<string, unknown>>;

  constructor(@Inject(RESOURCE_LIMITS) limits: WorkflowLimits) {
    this.schema = definitionSchema(limits);
  }

  @Get('schema.json')
  @OpenToAll()
  @Operation({
    summary: 'Get the JSON Schema of the definition of a workflow',
    reply: record('A JSON Schema (2020-12)'),
  })
  get(): Readonly<Record<string, unknown>> {
    return this.schema;
  }
}
