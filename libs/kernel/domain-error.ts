import { type ErrorCode } from './error-codes.js';

/**
 * A rule of the domain was broken, or a named thing does not exist.
 *
 * `code` is stable and dotted (`source.not_found`); libs/http maps it to a status and a public word in one table.
 * `message` is for people: it names the field, id or limit, the actual value, and what to do.
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
