import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Operation } from '#libs/http/operation.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from '#libs/http/callers.js';
import { type ComponentReply } from '../domain/component-view.js';
import { GetComponent } from './get-component.query.js';

/** `registry` and `search` are never keys. See docs/reference/rest-api.md#component-reserved-words. */
@Controller('v1/components')
export class GetComponentController {
  constructor(private readonly queries: QueryBus) {}

  @Get('registry/:key')
  @Operation({ summary: 'A component of the registry; this server has none' })
  registry(@Param('key') key: string): never {
    throw new DomainError(
      'component.not_found',
      `there is no component ${key} in the registry: this server has none; save the component with POST /v1/components`,
      { id: key },
    );
  }

  @Get('registry')
  @Operation({ summary: 'The registry needs a key' })
  registryRoot(): never {
    throw new DomainError('component.not_found', 'registry needs a key: GET /v1/components/registry/{key}');
  }

  @Get('search')
  @Operation({ summary: 'Search the registry; this server has none' })
  search(): never {
    throw new DomainError('component.not_found', 'this server has no registry to search in');
  }

  @Get(':keyOrId')
  @Operation({ summary: 'A component, by id or by key' })
  async get(@Param('keyOrId') keyOrId: string, @CurrentCaller() caller: Caller): Promise<{ data: ComponentReply }> {
    return { data: await this.queries.execute(new GetComponent(keyOrId, caller.workspaceIds)) };
  }
}
