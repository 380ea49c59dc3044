import {
  boolean,
  named,
  nullable,
  object,
  record,
  revisionField,
  seconds,
  secret,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type ConnectedAccount } from './domain/account.js';
import { type AccountDoc } from './read-models/accounts.projection.js';

/** Account as in docs/reference/rest-api.md#accounts. */
export const Account = named('Account', {
  id: text('`apn_…`'),
  name: nullable(text('Name for people')),
  app: object({ name_slug: text('Slug of the app') }, 'The app whose credentials these are'),
  created_at: seconds(),
  updated_at: seconds(),
  revision: revisionField(),
  healthy: boolean('False while a refresh of the token has failed'),
  dead: boolean('True when only new credentials help'),
  error: nullable(text('Reason of the last failed refresh')),
  expires_at: nullable(seconds('Expiry of the access token; null for credentials that are never refreshed')),
  last_refreshed_at: nullable(seconds()),
  next_refresh_at: nullable(seconds('Earliest next attempt; it is made when the account is used')),
  credentials: secret(record('Only with `include_credentials=true`')),
});

/** An account as a command left it. */
export interface ChangedAccount {
  readonly account: ConnectedAccount;
  /** Number of the last event that is in `account`. */
  readonly revision: number;
  readonly position?: Position;
}

export type AccountReply = TypeOf<typeof Account>;

type Shown = Pick<AccountDoc, 'id' | 'name' | 'app' | 'updatedAt' | 'revision' | 'oauth'> & {
  /** Epoch ms as a number or as fixed-width text. */
  readonly createdAt: number | string;
};

export const accountReply = ({ id, name, app, createdAt, updatedAt, revision, oauth }: Shown): AccountReply => ({
  id,
  name,
  app: { name_slug: app },
  created_at: epochSeconds(Number(createdAt)),
  updated_at: epochSeconds(updatedAt),
  revision,
  ...tokenReply(oauth),
});

const tokenReply = (oauth: AccountDoc['oauth']) => {
  const error = oauth?.error ?? null;
  const dead = error !== null && oauth?.retryAt === null;
  const next = error === null ? oauth?.refreshAt : (oauth?.retryAt ?? undefined);
  return {
    healthy: error === null,
    dead,
    error,
    expires_at: secondsOrNull(oauth?.expiresAt),
    last_refreshed_at: secondsOrNull(oauth?.refreshedAt),
    next_refresh_at: secondsOrNull(next),
  };
};

const secondsOrNull = (ms: number | null | undefined): number | null =>
  ms === undefined || ms === null ? null : epochSeconds(ms);

/** Reply with the account as a command left it. */
export const changedAccountReply = ({ account, revision }: ChangedAccount): AccountReply => {
  const { oauth, ...fields } = account;
  if (oauth === undefined) return accountReply({ ...fields, revision });
  const { failure, expiresAt, refreshAt, refreshedAt } = oauth;
  const failed = { error: failure?.reason ?? null, retryAt: failure?.retryAt ?? null };
  return accountReply({ ...fields, revision, oauth: { expiresAt, refreshAt, refreshedAt, ...failed } });
};
