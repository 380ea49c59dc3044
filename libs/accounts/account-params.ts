import { type ClassConstructor } from 'class-transformer';
import { type Parameters, validated } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';

const REFRESH = /oauth|refresh|token_?url|client_?(id|secret)|^expires/i;

/**
 * The checked parameters. Throws request.invalid_parameter for one that asks to refresh tokens, because a dropped one
 * would let them expire in silence (docs/reference/rest-api.md#account-refresh).
 */
export const accountParams = <D extends object>(dto: ClassConstructor<D>, params: Parameters): Promise<D> => {
  const field = Object.keys(params).find((name) => REFRESH.test(name));
  if (field === undefined) return validated(dto, params);
  const shown = field.slice(0, 100);
  throw new DomainError(
    'request.invalid_parameter',
    `parameter ${shown} is refused, because the refresh of tokens is not built yet: put a static token into credentials, such as {"oauth_access_token": "…"}`,
    { field: shown },
  );
};
