import { DomainError } from '#libs/kernel/domain-error.js';
import { MAX_URL_CHARS, urlIn } from '#libs/kernel/url-text.js';
import { checkEnvReference, isEnvReference } from './env-references.js';

/** Settings of the refresh as they are in the vault, with their references to variables resolved. */
export interface OAuthSettings {
  readonly token_url: string;
  readonly client_id: string;
  readonly client_secret?: string;
  readonly scope?: string;
  readonly token_endpoint_auth_method: 'client_secret_post' | 'client_secret_basic';
}

/** Parameter `oauth` of a request (docs/reference/rest-api.md#account-refresh). */
export interface GivenOAuth {
  /** JSON text of OAuthSettings, in which client_id and client_secret may refer to variables. */
  readonly settings: string;
  readonly refreshToken: string;
  /** The id, when it is a text. */
  readonly clientId: string | undefined;
  /** Undefined when the request named no time. */
  readonly expiresAt: number | undefined;
}

const FIELDS = [
  'token_url',
  'client_id',
  'client_secret',
  'refresh_token',
  'expires_in',
  'expires_at',
  'scope',
  'token_endpoint_auth_method',
];
const METHODS = ['client_secret_post', 'client_secret_basic'];
const MAX_TEXT = 16_384;
const LONGEST_S = 10 * 365 * 86_400;

/** Throws request.invalid_parameter, and account.env_not_allowed. */
export const givenOAuth = (given: object, allowedEnv: readonly string[], now: number): GivenOAuth => {
  const fields = new Map<string, unknown>(Object.entries(given));
  const unknown = [...fields.keys()].find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw invalid(unknown.slice(0, 100), `is unknown: parameter oauth has ${FIELDS.join(', ')}`);
  const method = fields.get('token_endpoint_auth_method') ?? METHODS[0];
  if (typeof method !== 'string' || !METHODS.includes(method))
    throw invalid('token_endpoint_auth_method', `must be one of ${METHODS.join(', ')}`);
  const id = textOrVariable(fields, 'client_id', allowedEnv);
  if (id === undefined) throw invalid('client_id', 'is missing: give the id of your OAuth client');
  const secret = textOrVariable(fields, 'client_secret', allowedEnv);
  const refreshToken = textIn(fields, 'refresh_token');
  if (refreshToken === undefined)
    throw invalid('refresh_token', 'is missing: give the one that came with the access token');
  const settings = {
    token_url: tokenUrl(textIn(fields, 'token_url')),
    client_id: id,
    client_secret: secret,
    scope: textIn(fields, 'scope'),
    token_endpoint_auth_method: method,
  };
  const clientId = typeof id === 'string' ? id : undefined;
  return { settings: JSON.stringify(settings), refreshToken, clientId, expiresAt: expiryIn(fields, now) };
};

const tokenUrl = (text: string | undefined): string => {
  if (text === undefined) throw invalid('token_url', 'is missing: give the URL of the token server');
  const url = urlIn(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw invalid('token_url', `must be an http(s) URL of up to ${MAX_URL_CHARS} characters`);
  if (url.username !== '' || url.password !== '')
    throw invalid('token_url', 'holds a user name or password: give them as client_id and client_secret');
  return url.href;
};

const textIn = (fields: ReadonlyMap<string, unknown>, name: string): string | undefined => {
  const value = fields.get(name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT) return value;
  throw invalid(name, `must be a text of 1 to ${MAX_TEXT} characters`);
};

const textOrVariable = (
  fields: ReadonlyMap<string, unknown>,
  name: string,
  allowedEnv: readonly string[],
): string | object | undefined => {
  const value = fields.get(name);
  if (typeof value !== 'object' || value === null || !isEnvReference(value)) return textIn(fields, name);
  checkEnvReference(value, allowedEnv, 'oauth');
  return value;
};

const expiryIn = (fields: ReadonlyMap<string, unknown>, now: number): number | undefined => {
  const inS = fields.get('expires_in') ?? undefined;
  const atS = fields.get('expires_at') ?? undefined;
  if (inS !== undefined && atS !== undefined)
    throw invalid('expires_at', 'and expires_in exclude each other: give one');
  if (inS !== undefined) {
    if (typeof inS === 'number' && inS >= 0 && inS <= LONGEST_S) return now + Math.floor(inS * 1_000);
    throw invalid('expires_in', `must be seconds from 0 to ${LONGEST_S}`);
  }
  if (atS === undefined) return undefined;
  const latest = Math.floor(now / 1_000) + LONGEST_S;
  if (typeof atS === 'number' && atS >= 0 && atS <= latest) return Math.floor(atS * 1_000);
  throw invalid('expires_at', `must be epoch seconds from 0 to ${latest}`);
};

/** Never names the value, which may be a secret. */
const invalid = (name: string, what: string): DomainError =>
  new DomainError('request.invalid_parameter', `parameter oauth.${name} ${what}`, { field: `oauth.${name}` });
