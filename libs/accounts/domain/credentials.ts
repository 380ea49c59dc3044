import { DomainError } from '#libs/kernel/domain-error.js';
import { checkEnvReference, isEnvReference } from './env-references.js';

/** Fields of `$auth`. */
export type Credentials = Readonly<Record<string, unknown>>;

/** docs/reference/limits.md#account-credentials */
export const MAX_FIELDS = 100;
export const MAX_CREDENTIALS_BYTES = 64 * 1024;
const MAX_DEPTH = 8;
const FIELD = /^(?!__proto__$)[A-Za-z_][\w.-]{0,99}$/;

/**
 * The credentials as JSON text. Throws request.invalid_parameter for a field that cannot be kept, and
 * account.env_not_allowed for a variable that the operator has not listed.
 */
export const checkedCredentials = (given: unknown, allowedEnv: readonly string[]): string => {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('must be an object with the fields of $auth, such as {"api_key": "…"}', {});
  const names = Object.keys(given);
  if (names.length === 0 || names.length > MAX_FIELDS)
    throw invalid(`must have 1 to ${MAX_FIELDS} fields; got ${names.length}`, {
      limit: MAX_FIELDS,
      actual: names.length,
    });
  const wrong = names.find((name) => !FIELD.test(name));
  if (wrong !== undefined)
    throw invalid(
      `has a field ${JSON.stringify(wrong.slice(0, 100))}: use up to 100 letters, digits, _, - and ., beginning with a letter or _`,
      { actual: wrong.slice(0, 100) },
    );
  checkValue(given, allowedEnv, 0);
  const text = JSON.stringify(given);
  const actual = Buffer.byteLength(text);
  if (actual <= MAX_CREDENTIALS_BYTES) return text;
  throw invalid(`has ${actual} bytes as JSON, the limit is ${MAX_CREDENTIALS_BYTES}: make it smaller`, {
    limit: MAX_CREDENTIALS_BYTES,
    actual,
  });
};

const checkValue = (value: unknown, allowedEnv: readonly string[], depth: number): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH)
    throw invalid(`is nested deeper than ${MAX_DEPTH} levels: flatten it`, { limit: MAX_DEPTH, actual: depth });
  if (isEnvReference(value)) return checkEnvReference(value, allowedEnv, 'credentials');
  for (const each of Object.values(value)) checkValue(each, allowedEnv, depth + 1);
};

const invalid = (what: string, details: Readonly<Record<string, unknown>>): DomainError =>
  new DomainError('request.invalid_parameter', `parameter credentials ${what}`, { field: 'credentials', ...details });
