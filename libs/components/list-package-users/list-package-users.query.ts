import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type Page, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { PACKAGE_USES, type PackageUseDoc } from '../read-models/package-uses.projection.js';

/** The components of a workspace that use an npm package, or one version of it. */
export class ListPackageUsers extends Query<Page<PackageUseDoc>> {
  constructor(
    readonly workspaceId: string,
    /** `name` or `name@version` */
    readonly wanted: string,
    readonly page: Omit<PageQuery, 'where'>,
  ) {
    super();
  }
}

@QueryHandler(ListPackageUsers)
export class ListPackageUsersHandler implements IQueryHandler<ListPackageUsers> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  execute({ workspaceId, wanted, page }: ListPackageUsers): Promise<Page<PackageUseDoc>> {
    const field = wanted.lastIndexOf('@') > 0 ? 'packageVersion' : 'package';
    return this.readModels.page<PackageUseDoc>(PACKAGE_USES, { ...page, where: { workspaceId, [field]: wanted } });
  }
}
