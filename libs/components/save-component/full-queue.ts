import { type FullTurns } from '#libs/async/bounded-turns.js';
import { DomainError } from '#libs/kernel/domain-error.js';

const WHOSE = { user: 'of this user', workspace: 'of this workspace', process: 'on this server' } as const;

/** Makes the refusal of a work that would have to wait in a full queue. */
export const fullQueue =
  <C extends DomainError['code']>(what: string, { own, inAll }: { readonly own: C; readonly inAll: C }) =>
  ({ scope, unit, limit, actual }: FullTurns): DomainError => {
    const code = scope === 'process' ? inAll : own;
    const text =
      unit === 'works'
        ? `${limit} ${what} ${WHOSE[scope]} wait already, which is the limit`
        : `with this one, ${what} ${WHOSE[scope]} that wait would hold ${actual} bytes of code, the limit is ${limit}`;
    return new DomainError(code, `${text}: try again later`, { limit, actual });
  };
