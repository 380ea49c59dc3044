import { Turns } from '#libs/async/turns.js';
import { hasPart } from '#libs/kernel/text-search.js';
import { type EventFilter, type FilterTest } from '#libs/subscriptions/published.js';

/** Larger events pass every filter unread, because parsing one would delay the events of others. */
export const MAX_EXAMINED_CHARS = 1024 * 1024;

/** Characters that are read and compared in one turn of the event loop, about a millisecond. */
const CHARS_OF_TURN = 512 * 1024;

/** All examinations of this thread share the budget of each turn. */
const examining = new Turns(CHARS_OF_TURN);

type Steps = Generator<undefined, boolean>;

/**
 * Tells which filters one event passes. Parses its JSON once, and only for a filter. Searches text in linear time. All
 * filters of all events share the budget of a turn (docs/reference/limits.md#filter-work), and the rest waits for later
 * turns.
 */
export class Examination {
  private event: { readonly json: unknown } | undefined;
  private readonly verdicts = new Map<EventFilter, boolean>();
  private begun: { readonly filter: EventFilter; readonly steps: Steps } | undefined;

  constructor(
    private readonly value: string,
    private readonly turns = examining,
  ) {}

  /** Whether the event passes the filter. Undefined when this turn's budget is spent: await `later`, then ask again. */
  passes(filter: EventFilter | undefined): boolean | undefined {
    if (filter === undefined || this.value.length > MAX_EXAMINED_CHARS) return true;
    const known = this.verdicts.get(filter);
    if (known !== undefined || this.turns.isOver) return known;
    const steps = this.begun?.filter === filter ? this.begun.steps : passing(filter, this.json(), this.turns);
    const { done, value } = steps.next();
    this.begun = done === true ? undefined : { filter, steps };
    if (done === true) this.verdicts.set(filter, value);
    return done === true ? value : undefined;
  }

  /** Resolves in a later turn. Workspaces alternate. */
  later(workspaceId: string): Promise<void> {
    return this.turns.later(workspaceId);
  }

  private json(): unknown {
    if (!this.event) {
      this.turns.spend(this.value.length);
      this.event = { json: JSON.parse(this.value) as unknown };
    }
    return this.event.json;
  }
}

/** Counts the work of a turn, and says when the turn is over. */
export type Work = Pick<Turns, 'isOver' | 'spend'>;

/**
 * Examines an event in steps: yields when the turn is over, and returns whether the event passes. Runs no code of
 * users. A value of another type than the test expects does not pass.
 */
export function* passing(filter: EventFilter, event: unknown, work: Work): Steps {
  for (const [path, test] of Object.entries(filter)) {
    if (!(yield* passesAt(path, test, event, work))) return false;
  }
  return true;
}

function* passesAt(path: string, test: unknown, event: unknown, work: Work): Steps {
  if (path === '$any') {
    for (const each of test as readonly EventFilter[]) if (yield* passing(each, event, work)) return true;
    return false;
  }
  if (path === '$all') {
    for (const each of test as readonly EventFilter[]) if (!(yield* passing(each, event, work))) return false;
    return true;
  }
  if (path === '$not') return !(yield* passing(test as EventFilter, event, work));
  work.spend(path.length);
  const value = valueAt(event, path);
  if (isScalar(test)) return value === test;
  for (const [name, wanted] of Object.entries(test as FilterTest)) {
    if (work.isOver) yield;
    if (!holds(name, value, wanted, work)) return false;
  }
  return true;
}

/** Returns the value at a path of names and indexes, undefined when there is none. Reads own members only. */
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

const holds = (name: string, value: unknown, wanted: unknown, work: Work): boolean => {
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
      return contains(value, wanted, work);
    case 'starts_with':
      return typeof value === 'string' && value.startsWith(String(wanted));
    case 'ends_with':
      return typeof value === 'string' && value.endsWith(String(wanted));
    default:
      return isOrdered(name, value, wanted);
  }
};

/** The only test whose cost grows with the event. */
const contains = (value: unknown, wanted: unknown, work: Work): boolean => {
  if (typeof value !== 'string' && !Array.isArray(value)) return false;
  work.spend(value.length);
  return typeof value === 'string' ? hasPart(value, String(wanted)) : value.includes(wanted);
};

/** Compares numbers with numbers, and texts with texts by their code units. */
const isOrdered = (name: string, value: unknown, wanted: unknown): boolean => {
  if (typeof value !== typeof wanted) return false;
  const [a, b] = [value as number, wanted as number];
  return name === 'gt' ? a > b : name === 'gte' ? a >= b : name === 'lt' ? a < b : a <= b;
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;
