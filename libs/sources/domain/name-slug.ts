import { type Decider } from '#libs/kernel/decider.js';
import { type NameSlugEvent } from '../published.js';

/** Lower case, anything but letters and digits to `-`, collapsed and trimmed (decisions.md 1.5); never empty. */
export const slugOf = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  return slug.slice(0, MAX_SLUG).replace(/-+$/, '') || 'source';
};

const MAX_SLUG = 200;

/** `foo`, `foo-1` and `foo-1-1` may all clash with each other's next number, so they share one stream. */
export const slugFamily = (slug: string): string => slug.replace(/(?:-\d+)+$/, '');

export const slugStreamId = (workspaceId: string, slug: string): string => `${workspaceId}/${slugFamily(slug)}`;

/** Who holds each slug of one family. */
export type NameSlugState = Readonly<Record<string, string>>;

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
export const chooseSlug = (state: NameSlugState, slug: string, sourceId: string): string => {
  let candidate = slug;
  for (let n = 1; Object.hasOwn(state, candidate) && state[candidate] !== sourceId; n++) candidate = `${slug}-${n}`;
  return candidate;
};

/** One stream per workspace and family: two sources never hold one slug, however they race. */
export const nameSlugDecider: Decider<NameSlugCommand, NameSlugEvent, NameSlugState> = {
  category: 'nameslug',
  initialState: () => ({}),

  decide: (command, state) => {
    const { sourceId, now } = command;
    switch (command.type) {
      case 'ReserveNameSlug': {
        const slug = chooseSlug(state, command.slug, sourceId);
        if (state[slug] === sourceId) return [];
        const { secretRefs } = command;
        return [{ type: 'NameSlugReserved', data: { slug, sourceId, secretRefs, reservedAt: now } }];
      }
      case 'ReleaseNameSlug':
        if (state[command.slug] !== sourceId) return [];
        return [{ type: 'NameSlugReleased', data: { slug: command.slug, sourceId, releasedAt: now } }];
    }
  },

  evolve: (state, event) => {
    switch (event.type) {
      case 'NameSlugReserved':
        return { ...state, [event.data.slug]: event.data.sourceId };
      case 'NameSlugReleased': {
        const { [event.data.slug]: _, ...others } = state;
        return others;
      }
      default:
        return state;
    }
  },
};
