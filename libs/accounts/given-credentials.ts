import { DomainError } from '#libs/kernel/domain-error.js';
import { newId } from '#libs/kernel/ids.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type OAuthGrant } from './published.js';
import { checkedCredentials } from './domain/credentials.js';
import { givenOAuth } from './domain/oauth-settings.js';
import { tokenTimes } from './domain/refresh.js';

/** Credentials of a request. `oauth` is null when it ends the refresh, and undefined when it is absent. */
export interface Given {
  readonly credentials: unknown;
  readonly oauth?: object | null;
}

export interface CheckedGiven {
  /** JSON text of the credentials, the refresh token among them. */
  readonly credentials: string;
  readonly oauth?: Omit<OAuthGrant, 'ref'> & { readonly settings: string };
}

/** Throws request.invalid_parameter and account.env_not_allowed. */
export const checkedGiven = (
  { credentials, oauth }: Given,
  allowedEnv: readonly string[],
  now: number,
): CheckedGiven => {
  if (oauth === undefined || oauth === null) return { credentials: checkedCredentials(credentials, allowedEnv) };
  const { settings, refreshToken, clientId, expiresAt: given } = givenOAuth(oauth, allowedEnv, now);
  const fields = typeof credentials === 'object' && credentials !== null ? credentials : {};
  const hasToken = 'oauth_access_token' in fields;
  if (hasToken && given === undefined)
    throw new DomainError(
      'request.invalid_parameter',
      'parameter oauth.expires_in is missing: give it or oauth.expires_at for the oauth_access_token in credentials',
      { field: 'oauth.expires_in' },
    );
  const client = clientId === undefined ? {} : { oauth_client_id: clientId };
  const whole = { ...fields, ...client, oauth_refresh_token: refreshToken };
  // Without an access token the first use requests one.
  const times = tokenTimes(now, hasToken && given !== undefined ? given - now : 0);
  return { credentials: checkedCredentials(whole, allowedEnv), oauth: { ...times, settings } };
};

/** References to the stored secrets. */
export interface PutSecrets {
  readonly credentialsRef: string;
  readonly oauth?: OAuthGrant;
}

/** Writes the secrets and returns their references. A failure before the event leaves unreferenced secrets. */
export const putGiven = async (
  vault: Vault,
  workspaceId: string,
  { credentials, oauth }: CheckedGiven,
  now: number,
): Promise<PutSecrets> => {
  const credentialsRef = newId('sec', now);
  await vault.put(credentialsRef, workspaceId, credentials);
  if (oauth === undefined) return { credentialsRef };
  const ref = newId('sec', now);
  await vault.put(ref, workspaceId, oauth.settings);
  const { expiresAt, refreshAt } = oauth;
  return { credentialsRef, oauth: { ref, expiresAt, refreshAt } };
};
