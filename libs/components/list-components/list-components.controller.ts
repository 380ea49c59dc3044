import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Meaning } from '#libs/http/meaning.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { memberOf } from '#libs/http/workspace.js';
import { ListedComponent, listedComponentReply, type ListedComponentReply } from '../component-reply.js';
import { ListComponents } from './list-components.query.js';

class ListComponentsDto {
  @Meaning('Part of the name or the key, in any case')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  q?: string | null;

  @Meaning('Kind of component')
  @IsOptional()
  @IsIn(['source', 'action', ''])
  type?: 'source' | 'action' | '' | null;
}

/** See docs/reference/rest-api.md#components-list. */
@Controller('v1')
export class ListComponentsController {
  constructor(private readonly queries: QueryBus) {}

  @Get(['workspaces/:id/components', 'orgs/:id/components'])
  @Operation({
    summary: 'Components of a workspace without their code, those saved last first',
    query: ListComponentsDto,
    paged: true,
    reply: paged(ListedComponent),
  })
  async list(
    @Param('id') id: string,
    @Params('body_wins', ListComponentsDto) { q, type }: ListComponentsDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<ListedComponentReply>> {
    const wanted = {
      workspaceId: memberOf(caller, id),
      kind: type === null || type === '' ? undefined : type,
      text: q === null || q === '' ? undefined : q,
    };
    return listReply(await this.queries.execute(new ListComponents(wanted, pageQuery(params))), listedComponentReply);
  }
}
