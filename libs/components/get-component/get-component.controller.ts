import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { oneWarned } from '#libs/http/replies.js';
import { type Warned } from '#libs/kernel/warning.js';
import { type Caller } from '#libs/http/callers.js';
import { Component, type ComponentReply } from '../component-reply.js';
import { GetComponent } from './get-component.query.js';

@Controller('v1/components')
export class GetComponentController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':keyOrId')
  @Operation({ summary: 'A component, by id or by key', reply: oneWarned(Component) })
  async get(@Param('keyOrId') keyOrId: string, @CurrentCaller() caller: Caller): Promise<Warned<ComponentReply>> {
    return this.queries.execute(new GetComponent(keyOrId, caller.workspaceIds));
  }
}
