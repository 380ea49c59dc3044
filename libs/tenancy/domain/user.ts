import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type UserEvent } from '../published.js';

export interface RegisterUserCommand {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
  readonly now: number;
}

export type UserState = { readonly username: string; readonly email: string } | null;

/** Derived from the name, so that the stream itself keeps names unique, and a repeat after a crash finds its user. */
export const userIdOf = (username: string): string => derivedId('u', 'username', username.toLowerCase());

export const user: Decider<RegisterUserCommand, UserEvent, UserState> = {
  category: 'user',
  initialState: () => null,
  decide({ userId, username, email, now }, state) {
    mustBeUsername(username);
    mustBeEmail(email);
    if (state) {
      if (state.email === email) return [];
      throw new DomainError('user.already_exists', `username ${username} is taken: choose another`, {
        field: 'username',
        actual: username,
      });
    }
    return [{ type: 'UserRegistered', data: { userId, username, email, registeredAt: now } }];
  },
  evolve: (_, event) => ({ username: event.data.username, email: event.data.email }),
};

const mustBeUsername = (username: string): void => {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,38}[A-Za-z0-9])?$/.test(username)) return;
  throw new DomainError(
    'request.invalid_parameter',
    `username must be 1 to 40 letters, digits, dots, dashes or underscores, with a letter or digit at both ends; got ${username.slice(0, 60)}`,
    { field: 'username', limit: 40, actual: username.slice(0, 60) },
  );
};

const mustBeEmail = (email: string): void => {
  if (email.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(email)) return;
  throw new DomainError(
    'request.invalid_parameter',
    `email must be an address like name@host; got ${email.slice(0, 60)}`,
    {
      field: 'email',
      limit: 254,
      actual: email.slice(0, 60),
    },
  );
};
