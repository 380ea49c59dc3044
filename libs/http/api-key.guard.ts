import { createHash } from 'node:crypto';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CALLERS, type Caller, type Callers } from './callers.js';
import { KEY_OPTIONAL, OPEN_TO_ALL, TOKEN_IN_QUERY } from './access.js';
import { identify } from './request-state.js';
import { WrongKeys } from './wrong-keys.js';

/** Longest text that is hashed. Every real key is shorter. */
const MAX_KEY = 512;

export const hashOfKey = (apiKey: string): string => createHash('sha256').update(apiKey, 'utf8').digest('hex');

/**
 * Admits callers that hold an API key (docs/reference/rest-api.md#authentication). Only hashes of keys are stored,
 * looked up and compared.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(CALLERS) private readonly callers: Callers,
    private readonly wrongKeys: WrongKeys,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const marked = (mark: string): boolean =>
      this.reflector.getAllAndOverride<boolean | undefined>(mark, [context.getHandler(), context.getClass()]) === true;
    if (marked(OPEN_TO_ALL)) return true;

    const request = context.switchToHttp().getRequest<Request>();
    const { authorization } = request.headers;
    if (marked(KEY_OPTIONAL) && authorization === undefined && request.query['access_token'] === undefined) return true;
    const key = presentedKey(request, marked(TOKEN_IN_QUERY));
    const caller = callerWith(key, this.callers);
    if (!caller) {
      this.wrongKeys.count(request);
      throw unauthorized('the API key is unknown, revoked or expired');
    }
    identify(request, caller);
    return true;
  }
}

const presentedKey = (request: Request, inQuery: boolean): string => {
  const header = request.headers.authorization;
  if (header === undefined) {
    const token = inQuery ? request.query['access_token'] : undefined;
    if (typeof token === 'string' && token !== '') return token;
    throw unauthorized('no API key given');
  }
  const [scheme = '', key, ...more] = header.trim().split(/\s+/);
  if (scheme.toLowerCase() !== 'bearer') throw unauthorized(faultOfScheme(scheme, key));
  if (key === undefined || more.length > 0) throw unauthorized('the Authorization header must hold one API key');
  return key;
};

/** Schemes that an error text may repeat. Any other word may be a key. */
const OTHER_SCHEMES = ['Basic', 'Digest', 'Token', 'ApiKey', 'Api-Key', 'Key', 'Negotiate', 'AWS4-HMAC-SHA256'];

const faultOfScheme = (scheme: string, key: string | undefined): string => {
  const known = OTHER_SCHEMES.find((name) => name.toLowerCase() === scheme.toLowerCase());
  if (known !== undefined) return `the authorization scheme must be Bearer, got ${known}`;
  return key === undefined
    ? 'the Authorization header has no scheme'
    : 'the authorization scheme must be Bearer, got another word';
};

/**
 * Finds the caller of the key in the header, to decide whether the body is worth reading. The guard decides about the
 * request.
 */
export const knownCaller = (request: Request, callers: Callers): Caller | undefined => {
  const [, key] = request.headers.authorization?.trim().split(/\s+/) ?? [];
  return key === undefined ? undefined : callerWith(key, callers);
};

const callerWith = (key: string, callers: Callers): Caller | undefined =>
  key.length > MAX_KEY ? undefined : callers.callerOf(hashOfKey(key));

const unauthorized = (why: string): DomainError =>
  new DomainError('auth.unauthorized', `${why}: send the header Authorization: Bearer <API key>`);
