import { DomainError } from '#libs/kernel/domain-error.js';
import { type ErrorCode } from '#libs/kernel/error-codes.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { type Warning } from '#libs/kernel/warning.js';

/** A parameter of the request that the route does not read, and the one that it probably stands for. */
export interface Misspelling {
  readonly given: string;
  readonly meant: string;
}

/** Unknown names that are compared with the parameters. A body may have thousands, and each comparison takes time. */
const MOST_COMPARED = 50;

/** Finds the misspelt names of a request. A name is not misspelt when the request also has the parameter itself. */
export const misspellings = (given: Iterable<string>, declared: readonly string[]): readonly Misspelling[] => {
  const names = new Set(given);
  const found: Misspelling[] = [];
  let compared = 0;
  for (const name of names) {
    if (declared.includes(name)) continue;
    if (++compared > MOST_COMPARED) break;
    const meant = meantBy(name, declared);
    if (meant !== undefined && !names.has(meant)) found.push({ given: name, meant });
  }
  return found;
};

const meantBy = (name: string, declared: readonly string[]): string | undefined =>
  nearMiss(name, declared) ?? withoutIs(name, declared) ?? ofComponent(name, declared);

/** The flag that `is_active` or `isActive` stands for. */
const withoutIs = (name: string, declared: readonly string[]): string | undefined => {
  const flag = /^is_?(\w{1,60})$/i.exec(name)?.[1]?.toLowerCase();
  return flag !== undefined && declared.includes(flag) ? flag : undefined;
};

/** `component_code` for `code`, and `component_url` for `url`. */
const ofComponent = (name: string, declared: readonly string[]): string | undefined =>
  (name === 'code' || name === 'url') && declared.includes(`component_${name}`) ? `component_${name}` : undefined;

export const warningOf = ({ given, meant }: Misspelling, declared: readonly string[]): Warning => ({
  code: 'unknown_parameter',
  message: `${given} is ignored, because this route has no such parameter; did you mean ${meant}? ${allowedIn(declared)}`,
  path: given,
});

/** Error for a request that must not be carried out with a name ignored: it may have been meant as a filter or a limit. */
export const refusalOf = (name: string, declared: readonly string[], undone: string): DomainError => {
  const meant = meantBy(name, declared);
  const given = name.slice(0, 60);
  const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
  return new DomainError(
    'request.invalid_parameter',
    `there is no parameter ${given}${hint} ${undone} ${allowedIn(declared)}`,
    { field: given, actual: given, ...(meant === undefined ? {} : { expected: meant }), allowed: declared },
  );
};

/** Parameters whose absence causes these errors. An empty list stands for any. */
const LACKED: Partial<Readonly<Record<ErrorCode, readonly string[]>>> = {
  'component.reference_missing': [],
  'source.missing_prop': ['configured_props'],
  'workspace.required': ['org_id', 'workspace_id'],
};

/** Adds to an error about a missing parameter the misspelling in the request that explains it. */
export const explained = (error: unknown, found: readonly Misspelling[], declared: readonly string[]): unknown => {
  if (!(error instanceof DomainError) || found.length === 0) return error;
  const lacked = lackedBy(error);
  const one = lacked && found.find(({ meant }) => lacked.length === 0 || lacked.includes(meant));
  if (!one) return error;
  const text = `${one.meant} is missing; did you mean it by ${one.given}? ${allowedIn(declared)}`;
  return new DomainError(error.code, text, {
    ...error.details,
    field: one.meant,
    actual: one.given,
    allowed: error.code === 'workspace.required' ? error.details?.['allowed'] : declared,
  });
};

const lackedBy = ({ code, details }: DomainError): readonly string[] | undefined => {
  const field = details?.['field'];
  if (code === 'request.missing_parameter') return typeof field === 'string' ? [field] : undefined;
  return LACKED[code];
};

const allowedIn = (declared: readonly string[]): string => `Allowed are ${declared.join(', ')}.`;
