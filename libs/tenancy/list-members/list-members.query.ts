import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type MemberReply } from '../member-reply.js';
import { type UserDoc, usersProjection } from '../read-models/users.projection.js';
import { type WorkspaceDoc, workspacesProjection } from '../read-models/workspaces.projection.js';

/** Members of a workspace in the order in which they joined, first. */
export class ListMembers extends Query<readonly MemberReply[]> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

@QueryHandler(ListMembers)
export class ListMembersHandler implements IQueryHandler<ListMembers> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ workspaceId }: ListMembers): Promise<readonly MemberReply[]> {
    const workspace = await this.readModels.get<WorkspaceDoc>(workspacesProjection.schema, workspaceId);
    const members = Object.entries(workspace?.members ?? {});
    const ids = members.map(([id]) => id);
    const users = await this.readModels.getMany<UserDoc>(usersProjection.schema, ids);
    return members.map(([user_id, role], i) => {
      const { username = '', email = '' } = users[i] ?? {};
      return { user_id, username, email, role };
    });
  }
}
