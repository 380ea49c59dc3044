import { DomainError } from '#libs/kernel/domain-error.js';
import { eventHistory } from '#libs/kernel/event-history.js';
import { type EventStore } from '#libs/kernel/event-store.js';
import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { type LiveView } from '#libs/kernel/live-view.js';
import { type Upcasters } from '#libs/kernel/upcasting.js';
import { plainEmail } from './domain/user.js';
import { type ApiKeyEvent, type UserEvent } from './published.js';
import { Homes } from './homes.js';
import { WorkspaceRegister } from './workspace-register.js';

export interface RegisteredUser {
  readonly userId: string;
  readonly username: string;
  readonly email: string;
  /** Epoch milliseconds. */
  readonly registeredAt: number;
}

export interface RegisteredKey {
  readonly keyId: string;
  readonly userId: string;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  /** Set for a key that may not change anything. */
  readonly readOnly?: true;
  /** Epoch milliseconds from which the key is refused; absent for one without end. */
  readonly expiresAt?: number;
  /** Names of the tools that the key opens, and nothing else; absent for a key that is not for tools only. */
  readonly tools?: readonly string[];
  readonly isRevoked: boolean;
}

/** Every user, workspace and key of the event log, for the command line, which has no API key and no running read model. */
export class KeyRegister {
  private readonly users = new Map<string, RegisteredUser>();
  private readonly byKey = new Map<string, RegisteredKey>();
  readonly workspaces = new WorkspaceRegister();
  private readonly homes = new Homes();

  /** @param others receive every event too, so that the log is read once. */
  static async read(
    store: EventStore,
    upcasters: Upcasters,
    others: readonly Pick<LiveView, 'apply'>[] = [],
  ): Promise<KeyRegister> {
    const register = new KeyRegister();
    const all = [register, register.homes, register.workspaces, ...others];
    for await (const page of eventHistory(store)) {
      for (const event of page.map((recorded) => upcasters.upcast(recorded))) for (const each of all) each.apply(event);
    }
    return register;
  }

  apply(recorded: RecordedEvent): void {
    const event = recorded as RecordedEvent & (UserEvent | ApiKeyEvent);
    switch (event.type) {
      case 'UserRegistered': {
        const { userId, username, email, registeredAt } = event.data;
        this.users.set(userId, { userId, username, email, registeredAt });
        return;
      }
      case 'ApiKeyIssued':
      case 'ToolsKeyIssued': {
        const { keyHash: _, ...key } = event.data;
        this.byKey.set(key.keyId, { ...key, isRevoked: false });
        return;
      }
      case 'ApiKeyRevoked': {
        const key = this.byKey.get(idOf(event.stream));
        if (key) this.byKey.set(key.keyId, { ...key, isRevoked: true });
        return;
      }
      default:
    }
  }

  key(keyId: string): RegisteredKey | undefined {
    return this.byKey.get(keyId);
  }

  user(userId: string): RegisteredUser | undefined {
    return this.users.get(userId);
  }

  /** Workspace whose history records what the operator does to a user; the empty text for none. */
  workspaceOf(userId: string): string {
    return this.homes.of(userId) ?? '';
  }

  /** Every user, in the order of their registration. */
  allUsers(): readonly RegisteredUser[] {
    return [...this.users.values()];
  }

  /** Keys that are not revoked, oldest first. */
  keysInForce(userId?: string): readonly RegisteredKey[] {
    return [...this.byKey.values()].filter((key) => !key.isRevoked && (userId === undefined || key.userId === userId));
  }

  /** Finds a user by id, email or name. Throws user.not_found, or request.invalid_parameter for several users. */
  find(who: string): RegisteredUser {
    const all = [...this.users.values()];
    const found = all.filter(({ userId, username, email }) =>
      who.includes('@') ? plainEmail(email) === plainEmail(who) : userId === who || isSame(username, who),
    );
    const [first, ...others] = found;
    if (!first) {
      const names = all.map(({ username }) => username).sort();
      const meant = nearMiss(who, [...names, ...all.map(({ email }) => email)]);
      const hint = meant === undefined ? knownNames(names) : `did you mean ${meant}?`;
      throw new DomainError('user.not_found', `there is no user ${who.slice(0, 60)}: ${hint}`, { field: 'user' });
    }
    if (others.length > 0) {
      const ids = found.map(({ userId, username }) => `${username} (${userId})`).join(', ');
      throw new DomainError(
        'request.invalid_parameter',
        `${found.length} users have the address ${who}: name one of them by its id: ${ids}`,
        { field: 'user', actual: who },
      );
    }
    return first;
  }
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const SHOWN = 10;

const knownNames = (names: readonly string[]): string => {
  if (names.length === 0) return 'no user was set up yet; start the server once, or add one with `sluice user`';
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `the users are ${names.slice(0, SHOWN).join(', ')}${more}`;
};
