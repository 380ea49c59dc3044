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
  const share = shareOf(search.words);
  const found = entries
    .filter(({ app }) => search.app === undefined || app === search.app)
    .map((entry) => ({ entry, share: share(entry) }))
    .filter(({ share }) => search.words.length === 0 || (share > 0 && share >= search.threshold))
    .sort((a, b) => b.share - a.share || (a.entry.key < b.entry.key ? -1 : 1));
  const keysOf = (kind: RegistryEntry['kind']): string[] =>
    found
      .filter(({ entry }) => entry.kind === kind)
      .slice(0, MOST_FOUND)
      .map(({ entry }) => entry.key);
  return { sources: keysOf('source'), actions: keysOf('action') };
};

/**
 * Share of the words that begin a word of key, name, description or app. Each word of an entry is looked up by its
 * beginnings, so that the time does not grow with the number of words searched for.
 */
const shareOf = (words: readonly string[]): ((entry: RegistryEntry) => number) => {
  const wanted = new Set(words);
  const lengths = [...new Set(words.map((word) => word.length))];
  return ({ key, name, description, app }) => {
    if (wanted.size === 0) return 0;
    const own = wordsOf(`${key} ${name} ${description ?? ''} ${app ?? ''}`);
    const begun = own.flatMap((one) =>
      lengths.map((length) => one.slice(0, length)).filter((part) => wanted.has(part)),
    );
    return new Set(begun).size / wanted.size;
  };
};
