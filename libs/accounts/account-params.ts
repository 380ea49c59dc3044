import { type ClassConstructor } from 'class-transformer';
import { type Parameters, validated } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';

const REFRESH = /refresh|token|client_?(id|secret)|^expires|^scope$/i;

/**
 * The checked parameters. Throws request.invalid_parameter for a parameter that belongs in oauth, because ignoring it
 * would let tokens expire unnoticed (docs/reference/rest-api.md#account-refresh).
 */
export const accountParams = <D extends object>(dto: ClassConstructor<D>, params: Parameters): Promise<D> => {
  const field = Object.keys(params).find((name) => REFRESH.test(name));
  if (field === undefined) return validated(dto, params);
  const shown = field.slice(0, 100);
  throw new DomainError(
    'request.invalid_parameter',
    `parameter ${shown} is refused at this place: put what refreshes a token into oauth, such as {"oauth": {"token_url": "…", "client_id": "…", "refresh_token": "…"}}`,
    { field: shown },
  );
};
