import { type Decider } from '#libs/kernel/decider.js';
import { MAX_SLUG } from '#libs/kernel/slug.js';
import { type NameSlugEvent } from '../published.js';
import { SlugTable } from './slug-table.js';

/** Whether a caller's text may be a slug, including the number that distinguishes sources of one name. */
export const isSlug = (text: string): boolean => text.length <= MAX_SLUG + 20 && /^[a-z0-9-]+$/.test(text);

/** `foo`, `foo-1` and `foo-1-1` share one stream, because each may clash with another's next number. */
export const slugFamily = (slug: string): string => slug.replace(/(?:-\d+)+$/, '');

export const slugStreamId = (workspaceId: string, slug: string): string => `${workspaceId}/${slugFamily(slug)}`;

/**
 * History of the slugs of one family, newest first; undefined when empty. It is a chain, so that a step costs the same
 * for the thousandth source of a name as for the first.
 */
export type NameSlugState = Step | undefined;
interface Step {
  readonly event: NameSlugEvent;
  readonly before: NameSlugState;
}

/**
 * The table of the newest requested step, which reuses that of an older one, because each command adds a step or two. A
 * request for an older step builds another table.
 */
const tables = new WeakMap<Step, SlugTable>();

const tableOf = (state: NameSlugState): SlugTable => {
  const since: NameSlugEvent[] = [];
  let step = state;
  for (; step !== undefined && !tables.has(step); step = step.before) since.push(step.event);
  const table = (step && tables.get(step)) ?? new SlugTable();
  if (step) tables.delete(step);
  for (const event of since.reverse()) table.apply(event);
  if (state) tables.set(state, table);
  return table;
};

export type NameSlugCommand =
  | {
      readonly type: 'ReserveNameSlug';
      readonly slug: string;
      readonly sourceId: string;
      readonly secretRefs: readonly string[];
      readonly now: number;
    }
  | { readonly type: 'ReleaseNameSlug'; readonly slug: string; readonly sourceId: string; readonly now: number };

/** The first of `slug`, `slug-1`, `slug-2`, … that is free, or already this source's. */
export const chooseSlug = (state: NameSlugState, slug: string, sourceId: string): string =>
  tableOf(state).firstFor(slug, sourceId);

/** One stream per workspace and family, so that two racing sources never hold the same slug. */
export const nameSlugDecider: Decider<NameSlugCommand, NameSlugEvent, NameSlugState> = {
  category: 'nameslug',
  initialState: () => undefined,

  decide: (command, state) => {
    const { sourceId, now } = command;
    const table = tableOf(state);
    switch (command.type) {
      case 'ReserveNameSlug': {
        const slug = table.firstFor(command.slug, sourceId);
        if (table.holderOf(slug) !== undefined) return [];
        const { secretRefs } = command;
        return [{ type: 'NameSlugReserved', data: { slug, sourceId, secretRefs, reservedAt: now } }];
      }
      case 'ReleaseNameSlug':
        if (table.holderOf(command.slug) !== sourceId) return [];
        return [{ type: 'NameSlugReleased', data: { slug: command.slug, sourceId, releasedAt: now } }];
    }
  },

  evolve: (before, event) => ({ event, before }),

  compact: (state) => {
    let small: NameSlugState = undefined;
    let size = 0;
    const decided = new Set<string>();
    for (let step = state; step !== undefined; step = step.before) {
      const { event } = step;
      if (decided.has(event.data.slug)) continue;
      decided.add(event.data.slug);
      if (event.type !== 'NameSlugReserved') continue;
      small = { event, before: small };
      size++;
    }
    return { state: small, size };
  },
};
