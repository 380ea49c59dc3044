import { named, nullable, object, optional, record, seconds, text, type TypeOf } from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type Credentials } from './domain/credentials.js';
import { type AccountDoc } from './read-models/accounts.projection.js';

/** Account as in docs/reference/rest-api.md#accounts. */
export const Account = named('Account', {
  id: text('`apn_…`'),
  name: nullable(text()),
  app: object({ name_slug: text('Slug of the app') }),
  created_at: seconds(),
  updated_at: seconds(),
  credentials: optional(record('Only with `include_credentials=true`')),
});

export type AccountReply = TypeOf<typeof Account>;

export const accountReply = ({ id, name, app, createdAt, updatedAt }: AccountDoc): AccountReply => ({
  id,
  name,
  app: { name_slug: app },
  created_at: epochSeconds(Number(createdAt)),
  updated_at: epochSeconds(updatedAt),
});

export const accountWithCredentials = (doc: AccountDoc, credentials: Credentials): AccountReply => ({
  ...accountReply(doc),
  credentials: { ...credentials },
});
