import { type OAuthSettings } from '../domain/oauth-settings.js';

/** Posts a form to a URL that a user named. Rejects with a text that is fit for that user. */
export type PostForm = (
  url: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly form: URLSearchParams },
) => Promise<{ readonly status: number; readonly text: string }>;

export interface NewToken {
  readonly accessToken: string;
  /** Undefined when the former one stays valid. */
  readonly refreshToken: string | undefined;
  readonly lifetimeMs: number;
}

/** The token server issued no token. The message contains no secret of the server or the account. */
export class TokenRefused extends Error {
  constructor(
    message: string,
    /** True when the refresh token is no longer valid. */
    readonly permanent: boolean,
  ) {
    super(message);
    this.name = 'TokenRefused';
  }
}

const MAX_TOKEN = 16_384;
/** Lifetime of a token whose reply names none. */
const DEFAULT_LIFETIME_MS = 3_600_000;
const SHORTEST_LIFETIME_MS = 1_000;
const LONGEST_LIFETIME_MS = 10 * 365 * 86_400_000;
/** Errors for an invalid refresh token. GitHub uses a code of its own. */
const DEAD: readonly string[] = ['invalid_grant', 'bad_refresh_token'];

/** Requests a new access token (RFC 6749, section 6). Throws TokenRefused, and the errors of `post`. */
export const refreshGrant = async (
  post: PostForm,
  settings: OAuthSettings,
  refreshToken: string,
): Promise<NewToken> => {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  const { client_id: id, client_secret: secret, scope, token_endpoint_auth_method: method } = settings;
  const headers: Record<string, string> = {};
  if (method === 'client_secret_basic' && secret !== undefined) {
    const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  } else {
    form.set('client_id', id);
    if (secret !== undefined) form.set('client_secret', secret);
  }
  if (scope !== undefined) form.set('scope', scope);
  const { status, text } = await post(settings.token_url, { headers, form });
  return tokenIn(status, text);
};

const tokenIn = (status: number, text: string): NewToken => {
  const reply = objectIn(text);
  const error = reply?.get('error');
  // The description is left out, because some servers repeat the token in it.
  const word = typeof error === 'string' && /^[\w.-]{1,60}$/.test(error) ? ` ${error}` : '';
  if (status !== 200 || error !== undefined)
    throw new TokenRefused(`the token server answered ${status}${word}`, DEAD.includes(word.trim()));
  const accessToken = reply?.get('access_token');
  if (!isToken(accessToken)) throw new TokenRefused('the token server answered 200 without an access_token', false);
  const refreshToken = reply?.get('refresh_token');
  const seconds = Number(reply?.get('expires_in') ?? Number.NaN);
  const lifetimeMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : DEFAULT_LIFETIME_MS;
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    lifetimeMs: Math.round(Math.min(LONGEST_LIFETIME_MS, Math.max(SHORTEST_LIFETIME_MS, lifetimeMs))),
  };
};

const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_TOKEN;

const objectIn = (text: string): ReadonlyMap<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
};
