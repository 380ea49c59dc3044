import { type Decider } from '#libs/kernel/decider.js';
import { type NameSlugEvent } from '../published.js';

/** Makes a slug of a name; never empty. See docs/reference/rest-api.md#source-name-slug. */
export const slugOf = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  return slug.slice(0, MAX_SLUG).replace(/-+$/, '') || 'source';
};

const MAX_SLUG = 200;

/** Whether a caller's text may be a slug, including the number that tells sources of one name apart. */
export const isSlug = (text: string): boolean => text.length <= MAX_SLUG + 20 && /^[a-z0-9-]+$/.test(text);

/** `foo`, `foo-1` and `foo-1-1` share one stream, because each may clash with another's next number. */
export const slugFamily = (slug: string): string => slug.replace(/(?:-\d+)+$/, '');

export const slugStreamId = (workspaceId: string, slug: string): string => `${workspaceId}/${slugFamily(slug)}`;

/**
 * History of the slugs of one family, newest first; undefined when empty. It is a chain, so that a step costs the same
 * for the thousandth source of a name as for the first. A command builds the table of holders once.
 */
export type NameSlugState = { readonly event: NameSlugEvent; readonly before: NameSlugState } | undefined;

/** Source by slug. */
const holders = (state: NameSlugState): ReadonlyMap<string, string> => {
  const held = new Map<string, string>();
  const decided = new Set<string>();
  for (let step = state; step !== undefined; step = step.before) {
    const { type, data } = step.event;
    if (decided.has(data.slug)) continue;
    decided.add(data.slug);
    if (type === 'NameSlugReserved') held.set(data.slug, data.sourceId);
  }
  return held;
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
  firstFor(holders(state), slug, sourceId);

const firstFor = (held: ReadonlyMap<string, string>, slug: string, sourceId: string): string => {
  let candidate = slug;
  for (let n = 1; (held.get(candidate) ?? sourceId) !== sourceId; n++) candidate = `${slug}-${n}`;
  return candidate;
};

/** One stream per workspace and family, so that two racing sources never hold the same slug. */
export const nameSlugDecider: Decider<NameSlugCommand, NameSlugEvent, NameSlugState> = {
  category: 'nameslug',
  initialState: () => undefined,

  decide: (command, state) => {
    const { sourceId, now } = command;
    const held = holders(state);
    switch (command.type) {
      case 'ReserveNameSlug': {
        const slug = firstFor(held, command.slug, sourceId);
        if (held.has(slug)) return [];
        const { secretRefs } = command;
        return [{ type: 'NameSlugReserved', data: { slug, sourceId, secretRefs, reservedAt: now } }];
      }
      case 'ReleaseNameSlug':
        if (held.get(command.slug) !== sourceId) return [];
        return [{ type: 'NameSlugReleased', data: { slug: command.slug, sourceId, releasedAt: now } }];
    }
  },

  evolve: (before, event) => ({ event, before }),
};
