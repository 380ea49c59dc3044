import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId } from '#libs/kernel/ids.js';
import { type UserEvent } from '../published.js';

interface Named {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
  readonly now: number;
}

export type UserCommand =
  | ({ readonly type: 'reserve_name'; readonly workspaceId: string } & Named)
  | ({ readonly type: 'reserve_email' } & Named)
  | ({ readonly type: 'register' } & Named);

export type UserState = {
  readonly username: string;
  readonly email: string;
  /** Ids of the name's user. Set only on the stream of a name. */
  readonly reserved?: { readonly userId: string; readonly workspaceId: string };
} | null;

/** Id of a name's stream. One stream per name keeps names unique, and lets a repeat after a crash find the user. */
export const nameIdOf = (username: string): string => derivedId('u', 'username', username.toLowerCase());

/** Id of an address's stream. One stream per address keeps addresses unique, in whatever case they are written. */
export const emailIdOf = (email: string): string => derivedId('u', 'email', plainEmail(email));

/** Normal form, equal for two spellings of one address. */
export const plainEmail = (email: string): string => email.normalize('NFC').toLowerCase();

/** The refusal of an address that another user has. */
export const emailTaken = (email: string, username: string): DomainError =>
  new DomainError(
    'user.already_exists',
    `email ${email} is the address of user ${username}: give another address, or issue ${username} another key`,
    { field: 'email', actual: email },
  );

/** The refusal of a name that another user has. */
export const nameTaken = (username: string): DomainError =>
  new DomainError('user.already_exists', `username ${username} is taken: choose another`, {
    field: 'username',
    actual: username,
  });

/** The refusal of an address that is reserved for a user whose set-up may have been interrupted. */
const emailReserved = (email: string, username: string): DomainError =>
  new DomainError(
    'user.already_exists',
    `email ${email} is the address of user ${username}, whose set-up may not have ended: ` +
      `give another address, or set up user ${username} again with this one`,
    { field: 'email', actual: email },
  );

export const user: Decider<UserCommand, UserEvent, UserState> = {
  category: 'user',
  initialState: () => null,
  decide(command, state) {
    const { userId, username, email, now } = command;
    mustBeUsername(username);
    mustBeEmail(email);
    if (command.type === 'reserve_email') {
      if (!state) return [{ type: 'EmailReserved', data: { email, username, userId, reservedAt: now } }];
      if (state.username.toLowerCase() === username.toLowerCase()) return [];
      throw emailReserved(email, state.username);
    }
    if (state) {
      if (state.email === email) return [];
      throw nameTaken(username);
    }
    switch (command.type) {
      case 'reserve_name': {
        const { workspaceId } = command;
        return [{ type: 'UsernameReserved', data: { username, email, userId, workspaceId, reservedAt: now } }];
      }
      case 'register':
        return [{ type: 'UserRegistered', data: { userId, username, email, registeredAt: now } }];
    }
  },
  evolve(_, event) {
    const { username, email } = event.data;
    switch (event.type) {
      case 'UsernameReserved': {
        const { userId, workspaceId } = event.data;
        return { username, email, reserved: { userId, workspaceId } };
      }
      case 'EmailReserved':
      case 'UserRegistered':
        return { username, email };
    }
  },
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
  if (email.length <= 254 && /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email)) return;
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
