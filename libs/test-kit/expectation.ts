import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { fitsPattern } from './fits-pattern.js';
import { type Expected, type Outcome } from './published.js';

/** Throws an AssertionError, which shows the difference, for an outcome without the expected parts. */
export const checkExpected = (outcome: Omit<Outcome, 'expect'>, expected: Expected): void => {
  const actual = pickedBy(expected, outcome);
  if (isDeepStrictEqual(actual, normal(expected))) return;
  const place = firstDifference(actual, normal(expected), '');
  const hint = outcome.error === undefined || 'error' in expected ? '' : `\nThe run failed: ${told(outcome.error)}`;
  throw new AssertionError({
    message: `${place}${hint}`,
    actual,
    expected: normal(expected),
    operator: 'deepStrictEqual',
    stackStartFn: checkExpected,
  });
};

const told = ({ name, message, file, line }: NonNullable<Outcome['error']>): string =>
  `${name}: ${message}${file === undefined ? '' : ` (${file}:${String(line)})`}`;

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp);

/** The actual value, without the fields that are not expected. A pattern that fits stands for the text. */
const pickedBy = (expected: unknown, actual: unknown): unknown => {
  if (expected instanceof RegExp)
    return typeof actual === 'string' && fitsPattern(expected, actual) ? expected : actual;
  if (Array.isArray(expected))
    return Array.isArray(actual) ? actual.map((each: unknown, at) => pickedBy(expected[at], each)) : actual;
  if (!isFields(expected)) return actual;
  if (!isFields(actual)) return actual;
  const keys = Object.keys(expected).filter((key) => expected[key] !== undefined || actual[key] !== undefined);
  return Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(actual, key) ? [[key, pickedBy(expected[key], actual[key])]] : [])),
  );
};

/** Without fields that are undefined, which stand for absent ones. */
const normal = (expected: unknown): unknown => {
  if (Array.isArray(expected)) return expected.map(normal);
  if (!isFields(expected)) return expected;
  return Object.fromEntries(
    Object.entries(expected).flatMap(([key, each]) => (each === undefined ? [] : [[key, normal(each)]])),
  );
};

/** `db.sum: expected 51, got 50`. */
const firstDifference = (actual: unknown, expected: unknown, place: string): string => {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return `${place}: expected ${expected.length} entries, got ${actual.length}: ${shown(actual)}`;
    const at = expected.findIndex((each, index) => !isDeepStrictEqual(each, actual[index]));
    return firstDifference(actual[at], expected[at], `${place}[${at}]`);
  }
  if (isFields(expected) && isFields(actual)) {
    const keys = [...Object.keys(expected), ...Object.keys(actual)];
    const key = keys.find((each) => !isDeepStrictEqual(expected[each], actual[each])) ?? '';
    return firstDifference(actual[key], expected[key], place === '' ? key : `${place}.${key}`);
  }
  return `${place}: expected ${shown(expected)}, got ${shown(actual)}`;
};

const SHOWN = 500;

const shown = (value: unknown): string => {
  if (value instanceof RegExp) return String(value);
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
};
