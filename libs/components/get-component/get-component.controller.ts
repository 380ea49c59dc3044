import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { list, oneWarned } from '#libs/http/replies.js';
import { type Warned } from '#libs/kernel/warning.js';
import { type Caller } from '#libs/http/callers.js';
import {
  Component,
  ComponentPackage,
  componentPackageReply,
  type ComponentPackageReply,
  type ComponentReply,
} from '../component-reply.js';
import { GetComponentPackages } from './get-packages.query.js';
import { GetComponent } from './get-component.query.js';

interface PackagesReply {
  readonly data: readonly ComponentPackageReply[];
}

@Controller('v1/components')
export class GetComponentController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':keyOrId/packages')
  @Operation({ summary: 'The npm packages of a component, as its lock pins them', reply: list(ComponentPackage) })
  async packages(@Param('keyOrId') keyOrId: string, @CurrentCaller() caller: Caller): Promise<PackagesReply> {
    const packages = await this.queries.execute(new GetComponentPackages(keyOrId, caller));
    return { data: packages.map(componentPackageReply) };
  }

  @Get(':keyOrId')
  @Operation({ summary: 'A component, by id or by key', reply: oneWarned(Component) })
  async get(@Param('keyOrId') keyOrId: string, @CurrentCaller() caller: Caller): Promise<Warned<ComponentReply>> {
    return this.queries.execute(new GetComponent(keyOrId, caller));
  }
}
