import { type ErrorCode } from './error-codes.js';

/**
 * Thrown when a command breaks a rule of the domain, or names a resource that does not exist.
 *
 * `code` is stable and dotted (`source.not_found`); libs/http maps it to a status and a public word in one table.
 * `message` is for people. It names the field, id or limit, the actual value, and the remedy.
 */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
    this.name = 'DomainError';
  }
}
