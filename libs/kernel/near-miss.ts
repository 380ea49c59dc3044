import { distance } from 'fastest-levenshtein';

/** Longer words are no misspelling. The bound keeps the cost of a comparison small, because users choose the words. */
const LONGEST = 64;

/**
 * Returns the allowed word that `word` probably means: the same letters in another case or with other separators
 * (`componentCode`), two neighbours swapped (`lable`), or one or two letters wrong (`dedup`, `optinal`). Undefined when it is allowed or near nothing.
 */
export const nearMiss = (word: string, allowed: Iterable<string>): string | undefined => {
  if (word.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of allowed) {
    if (each === word) return undefined;
    const wrong = wrongLetters(plain(each), plain(word), each.toLowerCase(), word.toLowerCase());
    if (wrong <= tolerated(each, word) && wrong < least) [nearest, least] = [each, wrong];
  }
  return nearest;
};

const wrongLetters = (plainA: string, plainB: string, a: string, b: string): number => {
  if (plainA === plainB) return 0;
  return areSwapped(a, b) ? 1 : distance(a, b);
};

/** Whether two words differ by two neighbouring letters in the other order, the commonest slip of a hand. */
const areSwapped = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
};

const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9$]/g, '');

/** Letters that may be wrong. Short words differ by one letter without being meant. */
const tolerated = (allowed: string, word: string): number => {
  const length = Math.min(allowed.length, word.length);
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
};
