import { DomainError } from '#libs/kernel/domain-error.js';
import { type EventFilter, type FilterScalar } from './published.js';

/** Limits of a filter (docs/reference/rest-api.md#subscription-filter). */
const MAX_BYTES = 4_096;
const MAX_TESTS = 50;
const MAX_DEPTH = 4;

const SCALAR_TESTS = ['eq', 'ne'] as const;
const LIST_TESTS = ['in', 'not_in'] as const;
const ORDER_TESTS = ['gt', 'gte', 'lt', 'lte'] as const;
const TEXT_TESTS = ['contains', 'starts_with', 'ends_with'] as const;
const TESTS: readonly string[] = [...SCALAR_TESTS, ...LIST_TESTS, ...ORDER_TESTS, ...TEXT_TESTS, 'exists'];

/**
 * Checks a given filter, which may be JSON text. Undefined when none is given, null when it must be removed. Throws
 * subscription.invalid_filter with the place of the fault.
 */
export const checkedFilter = (given: unknown): EventFilter | null | undefined => {
  if (given === undefined) return undefined;
  if (given === null || given === '') return null;
  const filter: unknown = typeof given === 'string' ? parsed(given) : given;
  const bytes = Buffer.byteLength(JSON.stringify(filter) ?? '');
  if (bytes > MAX_BYTES) throw invalid('filter', `has ${bytes} bytes as JSON, the limit is ${MAX_BYTES}`);
  const count = { tests: 0 };
  return checkedAt('filter', filter, 1, count);
};

const parsed = (text: string): unknown => {
  if (text.length > 4 * MAX_BYTES) throw invalid('filter', `has ${text.length} characters, the limit is ${MAX_BYTES}`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('filter', 'is not valid JSON');
  }
};

const checkedAt = (place: string, given: unknown, depth: number, count: { tests: number }): EventFilter => {
  if (!isObject(given)) throw invalid(place, `must be an object of paths and tests; got ${kindOf(given)}`);
  if (depth > MAX_DEPTH) throw invalid(place, `is nested more than ${MAX_DEPTH} deep`);
  const entries = Object.entries(given);
  if (entries.length === 0) throw invalid(place, 'is empty: leave it out to pass every event on');
  for (const [path, test] of entries) {
    count.tests += 1;
    if (count.tests > MAX_TESTS) throw invalid(place, `has more than ${MAX_TESTS} tests`);
    const at = `${place}.${path}`;
    if (path === '$any' || path === '$all') {
      if (!Array.isArray(test) || test.length === 0) throw invalid(at, 'must be a list of at least one filter');
      test.forEach((each, i) => checkedAt(`${at}[${i}]`, each, depth + 1, count));
    } else if (path === '$not') checkedAt(at, test, depth + 1, count);
    else if (path === '' || path.startsWith('$')) throw invalid(at, 'is no path: paths are names with dots between');
    else checkTest(at, test);
  }
  return given;
};

const checkTest = (at: string, test: unknown): void => {
  if (isScalar(test)) return;
  if (!isObject(test))
    throw invalid(at, `must be a text, number, boolean, null or an object of tests; got ${kindOf(test)}`);
  const entries = Object.entries(test);
  if (entries.length === 0) throw invalid(at, `must have one of the tests ${TESTS.join(', ')}`);
  for (const [name, wanted] of entries) {
    const fault = faultOf(name, wanted);
    if (fault !== undefined) throw invalid(`${at}.${name}`, fault);
  }
};

const includes = (names: readonly string[], name: string): boolean => names.includes(name);

const faultOf = (name: string, wanted: unknown): string | undefined => {
  if (includes(SCALAR_TESTS, name)) return isScalar(wanted) ? undefined : 'must be a text, number, boolean or null';
  if (includes(LIST_TESTS, name))
    return Array.isArray(wanted) && wanted.every(isScalar)
      ? undefined
      : 'must be a list of texts, numbers, booleans or null';
  if (includes(ORDER_TESTS, name))
    return typeof wanted === 'number' || typeof wanted === 'string' ? undefined : 'must be a number or a text';
  if (includes(TEXT_TESTS, name)) return isScalar(wanted) && wanted !== null ? undefined : 'must be a text or number';
  if (name === 'exists') return typeof wanted === 'boolean' ? undefined : 'must be true or false';
  return `is no test; the tests are ${TESTS.join(', ')}`;
};

const isScalar = (value: unknown): value is FilterScalar =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`;

const invalid = (place: string, fault: string): DomainError => {
  const shown = place.length > 200 ? `${place.slice(0, 200)}…` : place;
  return new DomainError('subscription.invalid_filter', `${shown} ${fault}`, { field: shown });
};
