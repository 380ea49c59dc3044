import { type Request, type RequestHandler } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ByteHolders } from './bytes-in-flight.js';
import { MAX_CODINGS } from './content-coding.js';
import { countFields, MAX_FIELDS } from './form-fields.js';
import { faultOf } from './json-fault.js';
import { shapeOf } from './json-shape.js';
import { type Body, type BodyLimits, readUnpackedBody } from './read-body.js';
import { mayBeYaml, YamlText } from './yaml-text.js';

const MAX_DEPTH = 256;
/** Largest number of keys and elements in a JSON body. Parsing this many takes about 20 ms in any arrangement. */
const MAX_VALUES = 25_000;

/**
 * Reads JSON and form bodies (docs/reference/rest-api.md#body-formats), and keeps YAML of the routes that take it. An empty body of any content type is `{}`. The
 * body of a request without holders is not read and is `{}` too. Fails with request.too_large,
 * request.too_much_in_flight, request.unsupported_media_type, request.invalid_json, request.too_many_fields.
 *
 * @param holdersOf holders that the body counts for.
 */
export const bodyReader =
  (limits: Omit<BodyLimits, 'holders'>, holdersOf: (request: Request) => ByteHolders | undefined): RequestHandler =>
  (request, _response, next) => {
    request.body = {};
    const holders = hasBody(request) ? holdersOf(request) : undefined;
    if (!holders) return next();
    readUnpackedBody(request, { ...limits, holders }, 'refuse')
      .then((body) => {
        request.body = parsed(request, bytesOf(body, limits.maxBytes, request));
        next();
      })
      .catch(next);
  };

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const parsed = (request: Request, bytes: Buffer): unknown => {
  const text = bytes.toString('utf8');
  if (text.trim() === '') return {};
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (isJson(type) || (type === '' && /^\s*[[{]/.test(text))) return objectOf(parseJson(text));
  if (mayBeYaml(request.path, type)) return new YamlText(text);
  if (type !== 'application/x-www-form-urlencoded') throw unsupported(type);
  checkIsForm(text);
  return parseForm(text);
};

const unsupported = (type: string): DomainError => {
  const found = type === '' ? 'the body has no content type' : `a body of content type ${type} cannot be read`;
  return new DomainError('request.unsupported_media_type', `${found}: send JSON with Content-Type: application/json`, {
    field: 'content-type',
    actual: type,
    allowed: ['application/json', 'application/x-www-form-urlencoded'],
  });
};

/** Throws request.invalid_json for JSON that is not an object. Null stands for an empty body. */
const objectOf = (value: unknown): unknown => {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return value ?? {};
  const actual = Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  throw new DomainError(
    'request.invalid_json',
    `the body must be a JSON object of parameters by name, such as {"name": "…"}; got ${actual}`,
    { actual },
  );
};

/** Throws request.unsupported_media_type for a JSON object that claims to be a form, as `curl -d` sends it. */
const checkIsForm = (text: string): void => {
  if (!/^\s*\{\s*"/.test(text) || !text.trimEnd().endsWith('}')) return;
  throw new DomainError(
    'request.unsupported_media_type',
    'the body is JSON, but its content type is application/x-www-form-urlencoded, which curl -d sends by itself: send it with Content-Type: application/json',
    { field: 'content-type', actual: 'application/x-www-form-urlencoded', allowed: ['application/json'] },
  );
};

const isJson = (type: string): boolean => type === 'application/json' || type === 'text/json' || type.endsWith('+json');

const parseJson = (text: string): unknown => {
  const source = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  checkShape(source);
  try {
    return JSON.parse(source);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const position = faultOf(source);
    // The engine's quote from the text is left out, because it differs between versions and may be a secret.
    const what = error.message
      .replace(/,? ?(\.\.\.)?".*"(\.\.\.)? is not valid JSON/s, '')
      .replace(/ in JSON at position.*$/s, '');
    throw new DomainError(
      'request.invalid_json',
      `the body is not valid JSON${position === undefined ? '' : ` at position ${position}`}: ${what}`,
      position === undefined ? {} : { position },
    );
  }
};

/** Checks the text before parsing, because deep nesting and many values cost far more than the length suggests. */
const checkShape = (text: string): void => {
  const { depth, values } = shapeOf(text);
  if (depth > MAX_DEPTH) {
    throw new DomainError(
      'request.invalid_json',
      `the body is nested ${depth} levels deep, the limit is ${MAX_DEPTH}`,
      { limit: MAX_DEPTH, actual: depth },
    );
  }
  if (values > MAX_VALUES) {
    throw new DomainError(
      'request.invalid_json',
      `the body holds ${values} keys and values, the limit is ${MAX_VALUES}: send less at once`,
      { limit: MAX_VALUES, actual: values },
    );
  }
};

const parseForm = (text: string): Record<string, unknown> => {
  checkFields(countFields(text), 'the body');
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (typeof before === 'string') fields.set(name, [before, value]);
    else before.push(value);
  }
  return Object.fromEntries(fields);
};

/** Throws request.too_many_fields. */
export const checkFields = (count: number, where: string): void => {
  if (count <= MAX_FIELDS) return;
  throw new DomainError('request.too_many_fields', `${where} has ${count} fields, the limit is ${MAX_FIELDS}`, {
    limit: MAX_FIELDS,
    actual: count,
  });
};

/** Throws what kept the body from being read. */
const bytesOf = (body: Body, maxBytes: number, { headers }: Request): Buffer => {
  if (body === 'client left') throw new DomainError('request.invalid_json', 'the body was cut off: request aborted');
  if ('bytes' in body) return body.bytes;
  if ('refused' in body) throw body.refused;
  const encoding = headers['content-encoding'];
  if ('notPacked' in body) {
    const text = `the body is not valid ${String(encoding)}, which the header Content-Encoding names (${body.notPacked.message}): compress it so, or leave the header out`;
    throw new DomainError('request.invalid_parameter', text, { field: 'content-encoding', actual: encoding });
  }
  if ('tooManyCodings' in body) {
    const text = `the body is packed ${body.tooManyCodings} times, the limit is ${MAX_CODINGS}: compress it once`;
    const details = { field: 'content-encoding', limit: MAX_CODINGS, actual: body.tooManyCodings };
    throw new DomainError('request.invalid_parameter', text, details);
  }
  if ('unknownEncoding' in body) {
    const text = `unsupported content encoding "${body.unknownEncoding}": send it uncompressed or as gzip`;
    throw new DomainError('request.unsupported_media_type', text, { field: 'content-encoding' });
  }
  const { tooLarge, declared } = body;
  const size = declared ? `${tooLarge} bytes` : `more (${tooLarge} bytes before reading stopped)`;
  const text = `the body is above the limit of ${maxBytes} bytes: it has ${size}`;
  throw new DomainError('request.too_large', text, { limit: maxBytes, actual: tooLarge });
};
