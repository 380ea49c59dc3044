import { type EventFilter, type FilterTest } from '#libs/subscriptions/published.js';

/** Larger events are passed on without a look, because reading them would hold up those of others. */
export const MAX_EXAMINED_CHARS = 1024 * 1024;

/** Which of these filters one event passes. Its JSON is read once, and only if there is a filter. */
export const examiner = (value: string): ((filter: EventFilter | undefined) => boolean) => {
  let event: { readonly json: unknown } | undefined;
  return (filter) => {
    if (filter === undefined || value.length > MAX_EXAMINED_CHARS) return true;
    event ??= { json: JSON.parse(value) as unknown };
    return passes(filter, event.json);
  };
};

/**
 * Whether an event passes. Runs no code of users, and its work is bounded by the filter and not by the event. A value of
 * another type than a test wants does not pass it.
 */
export const passes = (filter: EventFilter, event: unknown): boolean =>
  Object.entries(filter).every(([path, test]) => {
    if (path === '$any') return (test as readonly EventFilter[]).some((each) => passes(each, event));
    if (path === '$all') return (test as readonly EventFilter[]).every((each) => passes(each, event));
    if (path === '$not') return !passes(test as EventFilter, event);
    const value = valueAt(event, path);
    return isScalar(test)
      ? value === test
      : Object.entries(test as FilterTest).every(([name, wanted]) => holds(name, value, wanted));
  });

/** The value at a path of names and indexes; undefined when there is none. Own members alone count. */
const valueAt = (event: unknown, path: string): unknown => {
  let value = event;
  for (const name of namesOf(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
};

/** `\.` is a dot within a name. */
const namesOf = (path: string): readonly string[] =>
  path.includes('\\')
    ? (path.match(/(?:\\.|[^.\\])+/g) ?? []).map((name) => name.replace(/\\(.)/g, '$1'))
    : path.split('.');

const holds = (name: string, value: unknown, wanted: unknown): boolean => {
  switch (name) {
    case 'eq':
      return value === wanted;
    case 'ne':
      return value !== wanted;
    case 'in':
      return (wanted as readonly unknown[]).includes(value);
    case 'not_in':
      return !(wanted as readonly unknown[]).includes(value);
    case 'exists':
      return (value !== undefined) === wanted;
    case 'contains':
      return typeof value === 'string'
        ? value.includes(String(wanted))
        : Array.isArray(value) && value.includes(wanted);
    case 'starts_with':
      return typeof value === 'string' && value.startsWith(String(wanted));
    case 'ends_with':
      return typeof value === 'string' && value.endsWith(String(wanted));
    default:
      return isOrdered(name, value, wanted);
  }
};

/** Numbers with numbers and texts with texts; texts by their code units. */
const isOrdered = (name: string, value: unknown, wanted: unknown): boolean => {
  if (typeof value !== typeof wanted) return false;
  const [a, b] = [value as number, wanted as number];
  return name === 'gt' ? a > b : name === 'gte' ? a >= b : name === 'lt' ? a < b : a <= b;
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;
