import { type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type UserRegistered } from '../published.js';

export interface UserDoc extends Doc {
  readonly username: string;
  readonly email: string;
  /** Epoch milliseconds in fixed width. */
  readonly registeredAt: string;
}

export const usersProjection: Projection<UserDoc> = {
  name: 'tenancy.users.v1',
  schema: { name: 'tenancy.users.v1', indexed: ['username'], sort: 'registeredAt' },
  keys: (event) => (event.type === 'UserRegistered' ? [(event as RecordedEvent & UserRegistered).data.userId] : []),
  evolve(_, recorded, id) {
    const { username, email, registeredAt } = (recorded as RecordedEvent & UserRegistered).data;
    return { id, username, email, registeredAt: String(registeredAt).padStart(15, '0') };
  },
};
