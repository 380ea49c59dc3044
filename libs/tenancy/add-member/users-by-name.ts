import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { CallersView } from '../callers-view.js';
import { type UserDoc, usersProjection } from '../read-models/users.projection.js';

/** The ways to name a user; exactly one of them is given. */
export interface NamedUser {
  readonly user_id?: string | null;
  readonly email?: string | null;
  readonly username?: string | null;
}

const FIELDS = ['user_id', 'email', 'username'] as const satisfies readonly (keyof NamedUser)[];

/** Finds users of the server by what people know of each other. */
@Injectable()
export class UsersByName {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    private readonly callers: CallersView,
  ) {}

  /** Throws request.missing_parameter, request.invalid_parameter and user.not_found. */
  async idOf(named: NamedUser): Promise<string> {
    const [first, second] = FIELDS.flatMap((field) => {
      const text = named[field];
      return typeof text === 'string' && text !== '' ? [{ field, text }] : [];
    });
    if (!first)
      throw new DomainError('request.missing_parameter', 'one of user_id, email and username is required', {
        field: 'user_id',
      });
    if (second)
      throw new DomainError(
        'request.invalid_parameter',
        `parameter ${second.field} must be left out beside ${first.field}, which names the user`,
        { field: second.field },
      );
    if (first.field === 'user_id') return first.text;
    const usernames = first.field === 'email' ? this.callers.usernamesOf(first.text) : [first.text];
    const found = (await Promise.all(usernames.map((username) => this.withUsername(username)))).flat();
    const [user, ...others] = found;
    if (user && others.length === 0) return user.id;
    throw user ? severalUsers(first.text, found) : noUser(first.field, first.text);
  }

  private async withUsername(username: string): Promise<readonly UserDoc[]> {
    const where = { username };
    return (await this.readModels.page<UserDoc>(usersProjection.schema, { where, limit: 2, withTotal: false })).docs;
  }
}

const noUser = (field: 'email' | 'username', text: string): DomainError =>
  new DomainError('user.not_found', `there is no user with the ${field} ${text}: the operator makes users`, { field });

const severalUsers = (email: string, found: readonly UserDoc[]): DomainError =>
  new DomainError(
    'request.invalid_parameter',
    `parameter email must name one user; ${email} is the address of ${found.map(({ username }) => username).join(', ')}: give a username`,
    { field: 'email', actual: found.length },
  );
