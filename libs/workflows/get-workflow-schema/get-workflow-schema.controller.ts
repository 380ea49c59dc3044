import { Controller, Get } from '@nestjs/common';
import { OpenToAll } from '#libs/http/access.js';
import { Operation } from '#libs/http/operation.js';
import { record } from '#libs/http/reply-schema.js';
import { definitionSchema } from '../domain/json-schema.js';

const SCHEMA = definitionSchema();

/** Describes definitions to editors (docs/reference/workflows.md#schema). */
@Controller('v1/workflows')
export class GetWorkflowSchemaController {
  @Get('schema.json')
  @OpenToAll()
  @Operation({
    summary: 'Get the JSON Schema of the definition of a workflow',
    reply: record('A JSON Schema (2020-12)'),
  })
  get(): Readonly<Record<string, unknown>> {
    return SCHEMA;
  }
}
