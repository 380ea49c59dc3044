import { distance } from 'fastest-levenshtein';

/** Longer words are no misspelling. The bound keeps the cost of a comparison small, because users choose the words. */
const LONGEST = 64;

/**
 * Returns the allowed word that `word` probably means: the same letters in another case or with other separators
 * (`componentCode`), or one or two letters wrong (`dedup`, `optinal`). Undefined when it is allowed or near nothing.
 */
export const nearMiss = (word: string, allowed: Iterable<string>): string | undefined => {
  if (word.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of allowed) {
    if (each === word) return undefined;
    const wrong = plain(each) === plain(word) ? 0 : lettersWrong(each.toLowerCase(), word.toLowerCase());
    if (wrong <= tolerated(each, word) && wrong < least) [nearest, least] = [each, wrong];
  }
  return nearest;
};

/** Two letters in each other's place count as one wrong letter. */
const lettersWrong = (a: string, b: string): number => {
  const wrong = distance(a, b);
  return wrong === 2 && isSwapped(a, b) ? 1 : wrong;
};

const isSwapped = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  let i = 0;
  while (a[i] === b[i]) i++;
  return a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2);
};

const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9$]/g, '');

/** Letters that may be wrong. Short words differ by one letter without being meant. */
const tolerated = (allowed: string, word: string): number => {
  const length = Math.min(allowed.length, word.length);
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
};
