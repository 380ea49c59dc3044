import { type IncomingMessage } from 'node:http';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from '#libs/http/callers.js';

interface RequestState {
  readonly requestId: string;
  caller?: Caller;
}

// Beside the request, not on it: nothing that a client sends can pose as this.
const states = new WeakMap<IncomingMessage, RequestState>();

export const beginRequest = (request: IncomingMessage, requestId: string): void => {
  states.set(request, { requestId });
};

/** Empty when the request did not pass the first middleware (a malformed request line). */
export const requestIdOf = (request: IncomingMessage): string => states.get(request)?.requestId ?? '';

export const identify = (request: IncomingMessage, caller: Caller): void => {
  const state = states.get(request) ?? { requestId: '' };
  state.caller = caller;
  states.set(request, state);
};

/** The caller that the guard found. Throws auth.unauthorized on a route that is open to all. */
export const callerOf = (request: IncomingMessage): Caller => {
  const caller = states.get(request)?.caller;
  if (!caller) throw new DomainError('auth.unauthorized', 'this route needs an API key: Authorization: Bearer <key>');
  return caller;
};

export const callerIfAny = (request: IncomingMessage): Caller | undefined => states.get(request)?.caller;
