import { DomainError } from '#libs/kernel/domain-error.js';

/**
 * Adds `name` and `message` to the details of a refused component (docs/reference/errors.md#invalid-component-details).
 * Returns any other error as it is.
 */
export const rejectionOf = (error: unknown): unknown => {
  if (!(error instanceof DomainError) || error.code !== 'component.invalid') return error;
  const { code, message, details } = error;
  return new DomainError(code, message, { name: 'UserError', message, ...details });
};
