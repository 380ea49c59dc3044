import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { pause } from '#libs/async/pause.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { usersProjection, type UserDoc } from '../read-models/users.projection.js';

export class GetUser extends Query<UserDoc> {
  constructor(readonly userId: string) {
    super();
  }
}

const WAIT_MS = 2_000;
const STEP_MS = 50;

/**
 * Waits for the user of a valid key, because right after the first start another process may know the key before the
 * read model has its user. Rejects with request.not_caught_up after 2 s.
 */
@QueryHandler(GetUser)
export class GetUserHandler implements IQueryHandler<GetUser> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ userId }: GetUser): Promise<UserDoc> {
    for (let waited = 0; ; waited += STEP_MS) {
      const user = await this.readModels.get<UserDoc>(usersProjection.schema, userId);
      if (user) return user;
      if (waited >= WAIT_MS)
        throw new DomainError('request.not_caught_up', `the read model of users does not have ${userId} yet`, {
          waited_ms: waited,
        });
      await pause(STEP_MS);
    }
  }
}
