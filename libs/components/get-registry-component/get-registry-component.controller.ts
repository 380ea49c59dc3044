import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Operation } from '#libs/http/operation.js';
import { ErrorReply, oneWarned } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warned } from '#libs/kernel/warning.js';
import { Component, type ComponentReply } from '../component-reply.js';
import { GetRegistryComponent } from './get-registry-component.query.js';

const NOT_A_KEY = { 404: { description: 'A key is missing', schema: ErrorReply } };
const NOT_LISTED = { 404: { description: 'The registry has no such key', schema: ErrorReply } };

/** `registry` and `search` are never keys. See docs/reference/rest-api.md#component-reserved-words. */
@Controller('v1/components/registry')
export class GetRegistryComponentController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':key')
  @Operation({ summary: 'A component of the registry, by key', reply: oneWarned(Component), replies: NOT_LISTED })
  async get(@Param('key') key: string): Promise<Warned<ComponentReply>> {
    return this.queries.execute(new GetRegistryComponent(key));
  }

  @Get()
  @Operation({ summary: 'The registry needs a key', replies: NOT_A_KEY })
  root(): never {
    throw new DomainError('component.not_found', 'registry needs a key: GET /v1/components/registry/{key}');
  }
}
