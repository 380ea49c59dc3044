import { Inject } from '@nestjs/common';
import { IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { pause } from '#libs/async/pause.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type ApiKeyDoc, apiKeysProjection } from '../read-models/api-keys.projection.js';
import { usersProjection, type UserDoc } from '../read-models/users.projection.js';

export interface UserOfKey {
  readonly user: UserDoc;
  readonly key: ApiKeyDoc;
}

export class GetUser extends Query<UserOfKey> {
  constructor(
    readonly userId: string,
    readonly apiKeyId: string,
  ) {
    super();
  }
}

const WAIT_MS = 2_000;
const STEP_MS = 50;

/**
 * Waits for the key and its user, because right after the first start, and right after the key was issued, another
 * process may know the key before the read models have both. Rejects with request.not_caught_up after 2 s.
 */
@QueryHandler(GetUser)
export class GetUserHandler implements IQueryHandler<GetUser> {
  constructor(@Inject(READ_MODELS) private readonly readModels: ReadModelStore) {}

  async execute({ userId, apiKeyId }: GetUser): Promise<UserOfKey> {
    for (let waited = 0; ; waited += STEP_MS) {
      const [user, key] = await Promise.all([
        this.readModels.get<UserDoc>(usersProjection.schema, userId),
        this.readModels.get<ApiKeyDoc>(apiKeysProjection.schema, apiKeyId),
      ]);
      if (user && key) return { user, key };
      if (waited >= WAIT_MS) {
        const missing = user ? apiKeyId : userId;
        const message = `the read model of ${user ? 'keys' : 'users'} does not have ${missing} yet`;
        throw new DomainError('request.not_caught_up', message, { waited_ms: waited });
      }
      await pause(STEP_MS);
    }
  }
}
