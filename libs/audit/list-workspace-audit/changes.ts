import { isDeepStrictEqual } from 'node:util';

/** A field that an event changed. `before` is absent for a new field, `after` for a removed one. */
export interface Change {
  /** Names and indexes, separated by dots. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const MAX_CHANGES = 50;
const MAX_DEPTH = 6;
const MAX_CHARS = 500;

/** Differences between two states, by path: at most 50, with long values shortened. */
export const changesBetween = (before: unknown, after: unknown): readonly Change[] => {
  const changes: Change[] = [];
  compare('', before, after, 0, changes);
  return changes;
};

const compare = (path: string, before: unknown, after: unknown, depth: number, changes: Change[]): void => {
  if (changes.length >= MAX_CHANGES || isDeepStrictEqual(before, after)) return;
  const isDeeper = depth < MAX_DEPTH && isObject(after) && (isObject(before) || (depth === 0 && before === undefined));
  if (!isDeeper) {
    changes.push({
      path,
      ...(before === undefined ? {} : { before: shortened(before) }),
      ...(after === undefined ? {} : { after: shortened(after) }),
    });
    return;
  }
  const former = isObject(before) ? before : {};
  for (const name of new Set([...Object.keys(former), ...Object.keys(after)]))
    compare(path === '' ? name : `${path}.${name}`, former[name], after[name], depth + 1, changes);
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shortened = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? '';
  return text.length <= MAX_CHARS ? value : `${text.slice(0, MAX_CHARS)}…`;
};
