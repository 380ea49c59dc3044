import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { IsString, Matches, MaxLength } from 'class-validator';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { listReply, type ListReply, pageQuery } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { paged } from '#libs/http/replies.js';
import { named, nullable, object, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type PackageUseDoc } from '../read-models/package-uses.projection.js';
import { ListPackageUsers } from './list-package-users.query.js';
import { Meaning } from '#libs/http/meaning.js';

const PackageUser = named('PackageUser', {
  id: text('`sc_…`, the component'),
  name: text('Name that the component declares'),
  key: nullable(text('Key that the component declares')),
  type: oneOf(['source', 'action'], 'Kind of component'),
  package: object(
    { name: text('Name of the npm package'), version: text('Exact version') },
    'The package that it uses',
  ),
});

type PackageUserReply = TypeOf<typeof PackageUser>;

const NAME_OR_VERSION = /^(?:@[^/@\s]+\/)?[^/@\s]+(?:@\d[\w.+-]*)?$/;

class ListPackageUsersDto {
  /** Name of an npm package, or name@version with an exact version. */
  @Meaning('Name of an npm package, alone or with a version: `name@1.2.3`')
  @IsString()
  @MaxLength(480)
  @Matches(NAME_OR_VERSION, { message: 'must be the name of an npm package, or name@version with an exact version' })
  package!: string;
}

@Controller('v1/components')
export class ListPackageUsersController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Operation({
    summary: 'Components of a workspace that use an npm package, the newest first',
    query: ListPackageUsersDto,
    paged: true,
    reply: paged(PackageUser),
  })
  async list(
    @Params('query_wins', ListPackageUsersDto) { package: wanted }: ListPackageUsersDto,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<PackageUserReply>> {
    const found = await this.queries.execute(new ListPackageUsers(workspaceOf(caller), wanted, pageQuery(params)));
    return listReply(found, packageUserReply);
  }
}

const packageUserReply = (doc: PackageUseDoc): PackageUserReply => ({
  id: doc.componentId,
  name: doc.name,
  key: doc.key,
  type: doc.kind,
  package: { name: doc.package, version: doc.packageVersion.slice(doc.package.length + 1) },
});
