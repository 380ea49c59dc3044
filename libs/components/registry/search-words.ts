import { type RegistryEntry } from './registry-entry.js';

export interface RegistrySearch {
  readonly words: readonly string[];
  /** Slug of an app that the component must use. */
  readonly app: string | undefined;
  /** Share of the words that must occur, from 0 to 1. At least one word must. */
  readonly threshold: number;
}

export interface FoundKeys {
  readonly sources: readonly string[];
  readonly actions: readonly string[];
}

const MOST_FOUND = 100;

export const wordsOf = (query: string): readonly string[] => [
  ...new Set(
    query
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== ''),
  ),
];

/** Keys of the entries that match, those with most words first. See docs/reference/rest-api.md#registry-search. */
export const foundIn = (entries: readonly RegistryEntry[], search: RegistrySearch): FoundKeys => {
  const found = entries
    .filter(({ app }) => search.app === undefined || app === search.app)
    .map((entry) => ({ entry, share: shareOf(entry, search.words) }))
    .filter(({ share }) => search.words.length === 0 || (share > 0 && share >= search.threshold))
    .sort((a, b) => b.share - a.share || (a.entry.key < b.entry.key ? -1 : 1));
  const keysOf = (kind: RegistryEntry['kind']): string[] =>
    found
      .filter(({ entry }) => entry.kind === kind)
      .slice(0, MOST_FOUND)
      .map(({ entry }) => entry.key);
  return { sources: keysOf('source'), actions: keysOf('action') };
};

/** Share of the words that begin a word of key, name, description or app. */
const shareOf = ({ key, name, description, app }: RegistryEntry, words: readonly string[]): number => {
  if (words.length === 0) return 0;
  const own = wordsOf(`${key} ${name} ${description ?? ''} ${app ?? ''}`);
  return words.filter((word) => own.some((one) => one.startsWith(word))).length / words.length;
};
