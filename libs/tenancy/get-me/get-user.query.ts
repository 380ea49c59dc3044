import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { usersProjection, type UserDoc } from '../read-models/users.projection.js';

export class GetUser extends Query<UserDoc> {
  constructor(readonly userId: string) {
    super();
  }
}

@QueryHandler(GetUser)
export class GetUserHandler implements IQueryHandler<GetUser> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ userId }: GetUser): Promise<UserDoc> {
    const user = await this.readModels.get<UserDoc>(usersProjection.schema, userId);
    if (!user) throw new DomainError('user.not_found', `there is no user ${userId}`, { id: userId });
    return user;
  }
}
