import { isHttpMethod } from '#libs/component-model/http-request.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { MAX_URL_CHARS, urlIn } from '#libs/kernel/url-text.js';
import { invalidProp, shown } from './prop-error.js';
import { SECRET_MASK } from './secret-mask.js';

type Fields = Readonly<Record<string, unknown>>;

const MAX_FIELDS = 1_000;
const AUTH_TYPES = ['none', 'basic', 'bearer'];
const BODY_MODES = ['none', 'fields', 'raw'];
/** Fields of `auth` that are secret. */
const SECRETS = ['password', 'token'] as const;

/** Value of an http_request prop, and its part for the vault. */
export interface RequestValue {
  /** The value with its secrets masked, as replies show it. */
  readonly value: Fields;
  /** JSON of the secret fields of `auth`. Undefined when there are none, and null when the stored ones are kept. */
  readonly secrets: string | null | undefined;
}

/**
 * Checks the value of an http_request prop (docs/reference/component-model.md#http-request-value). Throws
 * source.invalid_prop naming the field. Further fields are kept, because forms add their own.
 */
export const requestValueOf = ({ name }: ConfigurableProp, given: Fields, hasStoredSecrets: boolean): RequestValue => {
  const { method, url } = given;
  if (isGiven(method) && !isHttpMethod(method))
    throw invalidProp(`${name}.method`, 'a method of HTTP, such as GET', shown(method));
  if (typeof url === 'string' && url.length > MAX_URL_CHARS)
    throw invalidProp(`${name}.url`, `at most ${MAX_URL_CHARS} characters`, `${url.length} characters`, MAX_URL_CHARS);
  if (typeof url !== 'string' || !isHttpUrl(url))
    throw invalidProp(`${name}.url`, 'an http or https URL without user name and password', urlShown(url));
  checkPairs(`${name}.params`, given.params);
  checkPairs(`${name}.headers`, given.headers);
  checkBody(`${name}.body`, given.body);
  return withAuthApart(name, given, hasStoredSecrets);
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
const isText = (value: unknown): value is string => typeof value === 'string';
const isScalar = (value: unknown): boolean => isText(value) || typeof value === 'number' || typeof value === 'boolean';
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isHttpUrl = (text: string): boolean => {
  const url = urlIn(text);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};

/** A URL that is refused may hold a password. */
const urlShown = (url: unknown): string => (isText(url) ? shown(url.replace(/\/\/[^/]*@/, '//********@')) : shown(url));

/** Checks a list of `{name, value}`. Its values are not repeated in an error, because headers hold secrets. */
const checkPairs = (field: string, pairs: unknown): void => {
  if (!isGiven(pairs)) return;
  if (!Array.isArray(pairs)) throw invalidProp(field, 'an array of {name, value}', typeof pairs);
  if (pairs.length > MAX_FIELDS) throw invalidProp(field, `at most ${MAX_FIELDS} entries`, pairs.length, MAX_FIELDS);
  pairs.forEach((pair: unknown, i) => {
    const at = `${field}[${i}]`;
    if (!isObject(pair) || !isText(pair.name)) throw invalidProp(`${at}.name`, 'a text', kindOf(pair));
    if (isGiven(pair.value) && !isScalar(pair.value)) throw invalidProp(`${at}.value`, 'a text', kindOf(pair.value));
  });
};

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'an array' : value === null ? 'null' : isObject(value) ? 'an object' : typeof value;

const checkBody = (field: string, body: unknown): void => {
  if (!isGiven(body)) return;
  if (!isObject(body)) throw invalidProp(field, 'an object of type, contentType, fields and raw', kindOf(body));
  for (const key of ['type', 'mode'] as const)
    if (isGiven(body[key]) && !BODY_MODES.includes(body[key] as string))
      throw invalidProp(`${field}.${key}`, 'one of none, fields, raw', shown(body[key]));
  if (isGiven(body.contentType) && !isText(body.contentType))
    throw invalidProp(`${field}.contentType`, 'a text', kindOf(body.contentType));
  if (isGiven(body.raw) && !isText(body.raw)) throw invalidProp(`${field}.raw`, 'a text', kindOf(body.raw));
  checkPairs(`${field}.fields`, body.fields);
};

const withAuthApart = (name: string, given: Fields, hasStoredSecrets: boolean): RequestValue => {
  const { auth } = given;
  if (!isGiven(auth)) return { value: given, secrets: undefined };
  if (!isObject(auth)) throw invalidProp(`${name}.auth`, 'an object of type, username, password, token', kindOf(auth));
  if (isGiven(auth.type) && !AUTH_TYPES.includes(auth.type as string))
    throw invalidProp(`${name}.auth.type`, 'one of none, basic, bearer', shown(auth.type));
  for (const key of ['username', ...SECRETS])
    if (isGiven(auth[key]) && !isText(auth[key])) throw invalidProp(`${name}.auth.${key}`, 'a text', kindOf(auth[key]));
  const secret = SECRETS.filter((key) => isGiven(auth[key]));
  if (secret.length === 0) return { value: given, secrets: undefined };
  const value = { ...given, auth: { ...auth, ...Object.fromEntries(secret.map((key) => [key, SECRET_MASK])) } };
  const masked = secret.filter((key) => auth[key] === SECRET_MASK);
  if (masked.length > 0 && !hasStoredSecrets)
    throw invalidProp(
      `${name}.auth.${masked[0] ?? ''}`,
      'the secret itself',
      `the mask ${SECRET_MASK}, but no secret is stored`,
    );
  if (masked.length === secret.length) return { value, secrets: null };
  if (masked.length > 0)
    throw invalidProp(`${name}.auth.${masked[0] ?? ''}`, 'the secret itself, because another one changes', SECRET_MASK);
  return { value, secrets: JSON.stringify(Object.fromEntries(secret.map((key) => [key, auth[key]]))) };
};
