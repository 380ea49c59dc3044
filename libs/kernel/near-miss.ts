import { distance } from 'fastest-levenshtein';

/** Longer words are no misspelling. The bound keeps the cost of a comparison small, because users choose the words. */
const LONGEST = 64;

/**
 * Returns the allowed word that `word` probably means: the same letters in another case or with other separators
 * (`componentCode`), two neighbours swapped (`lable`), or one or two letters wrong (`dedup`, `optinal`). Undefined when
 * it is allowed or near nothing.
 */
export const nearMiss = (word: string, allowed: Iterable<string>): string | undefined => {
  if (word.length > LONGEST) return undefined;
  const meant = { lower: word.toLowerCase(), plain: plain(word) };
  let nearest: string | undefined;
  let least = Infinity;
  for (const each of allowed) {
    if (each === word) return undefined;
    if (each.length > LONGEST) continue;
    const most = tolerated(each, word);
    const wrong = wrongLetters(each, meant, most);
    if (wrong <= most && wrong < least) [nearest, least] = [each, wrong];
  }
  return nearest;
};

interface Meant {
  readonly lower: string;
  readonly plain: string;
}

/** Infinity for words whose lengths alone differ by more than `most`. */
const wrongLetters = (each: string, { lower, plain: letters }: Meant, most: number): number => {
  if (plain(each) === letters) return 0;
  const other = each.toLowerCase();
  if (Math.abs(other.length - lower.length) > most) return Infinity;
  return areSwapped(other, lower) ? 1 : distance(other, lower);
};

/** Whether two words differ only by two swapped neighbouring letters, the most common typing mistake. */
const areSwapped = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at + 1 < a.length && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
};

const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9$]/g, '');

/**
 * Number of letters that may be wrong. Short words often differ from an allowed word by one letter without meaning it.
 */
const tolerated = (allowed: string, word: string): number => {
  const length = Math.min(allowed.length, word.length);
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
};
