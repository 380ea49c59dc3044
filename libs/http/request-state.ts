import { type IncomingMessage } from 'node:http';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from './callers.js';
import { type HostedStream } from './normalise-url.js';

interface RequestState {
  readonly requestId: string;
  caller?: Caller;
  hosted?: HostedStream;
  repeatId?: RepeatId;
}

/** Resolves with a text that is the same for all repeats of the request under its Idempotency-Key, once it is durable. */
export type RepeatId = () => Promise<string>;

// Kept beside the request and not on it, so no client input can pose as this state.
const states = new WeakMap<IncomingMessage, RequestState>();

export const beginRequest = (request: IncomingMessage, requestId: string): void => {
  states.set(request, { requestId });
};

/** Request id; empty when a malformed request line kept the request from the first middleware. */
export const requestIdOf = (request: IncomingMessage): string => states.get(request)?.requestId ?? '';

export const cameByHostedAddress = (request: IncomingMessage, hosted: HostedStream): void => {
  const state = states.get(request);
  if (state) state.hosted = hosted;
};

export const repeatsUnder = (request: IncomingMessage, repeatId: RepeatId): void => {
  const state = states.get(request);
  if (state) state.repeatId = repeatId;
};

/** Undefined for a request without an Idempotency-Key. */
export const repeatIdOf = (request: IncomingMessage): RepeatId | undefined => states.get(request)?.repeatId;

/** Stream of the hosted service at the request's address; undefined for a route of the API. */
export const hostedStreamOf = (request: IncomingMessage): HostedStream | undefined => states.get(request)?.hosted;

export const identify = (request: IncomingMessage, caller: Caller): void => {
  const state = states.get(request) ?? { requestId: '' };
  state.caller = caller;
  states.set(request, state);
};

/** Returns the caller that the guard found. Throws auth.unauthorized on a route that is open to all. */
export const callerOf = (request: IncomingMessage): Caller => {
  const caller = states.get(request)?.caller;
  if (!caller) throw new DomainError('auth.unauthorized', 'this route needs an API key: Authorization: Bearer <key>');
  return caller;
};

export const callerIfAny = (request: IncomingMessage): Caller | undefined => states.get(request)?.caller;
