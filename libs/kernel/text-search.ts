/**
 * Parts up to this length are found in linear time, because the engine compares at most this many characters per place.
 */
const SHORT_PART = 16;
/** Product of both lengths up to which the engine's search is fast at its worst, about 1.5 ms. */
const SMALL_SEARCH = 1 << 22;

/**
 * Whether `text` contains `part`, in time linear in both. The engine's own search may compare each character of one
 * with each of the other, and so may that of Buffer. A user who chooses both could stop a thread for minutes.
 */
export const hasPart = (text: string, part: string): boolean =>
  part.length <= SHORT_PART || part.length * text.length <= SMALL_SEARCH
    ? text.includes(part)
    : part.length <= text.length && isFoundOnePass(text, part);

/** The search of Knuth, Morris and Pratt: it never looks at a character of the text that it has left behind. */
const isFoundOnePass = (text: string, part: string): boolean => {
  const codes = codesOf(part);
  const next = fallbacksOf(codes);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    while (matched >= 0 && codes[matched] !== c) matched = next[matched] ?? -1;
    if (++matched === codes.length) return true;
  }
  return false;
};

const codesOf = (text: string): Uint16Array => {
  const codes = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) codes[at] = text.charCodeAt(at);
  return codes;
};

/**
 * For each place of the part, how much of it still matches after a mismatch there. -1 means that matching starts over
 * at the next character.
 */
const fallbacksOf = (codes: Uint16Array): Int32Array => {
  const next = new Int32Array(codes.length);
  next[0] = -1;
  let length = 0;
  for (let at = 1; at < codes.length; at++) {
    next[at] = codes[at] === codes[length] ? (next[length] ?? -1) : length;
    while (length >= 0 && codes[at] !== codes[length]) length = next[length] ?? -1;
    length++;
  }
  return next;
};

/** `text` without the `ending`s at its end. A pattern such as `/x+$/` tries every place from which the letter repeats. */
export const withoutEnding = (text: string, ending: string): string => {
  let end = text.length;
  while (ending !== '' && end >= ending.length && text.startsWith(ending, end - ending.length)) end -= ending.length;
  return text.slice(0, end);
};
