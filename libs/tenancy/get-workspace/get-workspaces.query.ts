import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { workspacesProjection, type WorkspaceDoc } from '../read-models/workspaces.projection.js';

/** Finds workspaces by id, in the given order. Leaves out those that are not yet in the read model. */
export class GetWorkspaces extends Query<readonly WorkspaceDoc[]> {
  constructor(readonly ids: readonly string[]) {
    super();
  }
}

@QueryHandler(GetWorkspaces)
export class GetWorkspacesHandler implements IQueryHandler<GetWorkspaces> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ ids }: GetWorkspaces): Promise<readonly WorkspaceDoc[]> {
    const docs = await this.readModels.getMany<WorkspaceDoc>(workspacesProjection.schema, ids);
    return docs.filter((doc) => doc !== undefined);
  }
}
