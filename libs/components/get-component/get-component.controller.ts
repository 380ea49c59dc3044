import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { ErrorReply, list, oneWarned } from '#libs/http/replies.js';
import { type Warned } from '#libs/kernel/warning.js';
import { DomainError } from '#libs/kernel/domain-error.js';
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

const NO_REGISTRY = { 404: { description: 'This server has no registry', schema: ErrorReply } };

interface PackagesReply {
  readonly data: readonly ComponentPackageReply[];
}

/** `registry` and `search` are never keys. See docs/reference/rest-api.md#component-reserved-words. */
@Controller('v1/components')
export class GetComponentController {
  constructor(private readonly queries: QueryBus) {}

  @Get('registry/:key')
  @Operation({ summary: 'A component of the registry; this server has none', replies: NO_REGISTRY })
  registry(@Param('key') key: string): never {
    throw new DomainError(
      'component.not_found',
      `there is no component ${key} in the registry: this server has none; save the component with POST /v1/components`,
      { id: key },
    );
  }

  @Get('registry')
  @Operation({ summary: 'The registry needs a key', replies: NO_REGISTRY })
  registryRoot(): never {
    throw new DomainError('component.not_found', 'registry needs a key: GET /v1/components/registry/{key}');
  }

  @Get('search')
  @Operation({ summary: 'Search the registry; this server has none', replies: NO_REGISTRY })
  search(): never {
    throw new DomainError('component.not_found', 'this server has no registry to search in');
  }

  @Get(':keyOrId/packages')
  @Operation({ summary: 'The npm packages of a component, as its lock pins them', reply: list(ComponentPackage) })
  async packages(@Param('keyOrId') keyOrId: string, @CurrentCaller() caller: Caller): Promise<PackagesReply> {
    const packages = await this.queries.execute(new GetComponentPackages(keyOrId, caller.workspaceIds));
    return { data: packages.map(componentPackageReply) };
  }

  @Get(':keyOrId')
  @Operation({ summary: 'A component, by id or by key', reply: oneWarned(Component) })
  async get(@Param('keyOrId') keyOrId: string, @CurrentCaller() caller: Caller): Promise<Warned<ComponentReply>> {
    return this.queries.execute(new GetComponent(keyOrId, caller.workspaceIds));
  }
}
