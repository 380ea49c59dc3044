/** Parts up to this length are found in linear time, because the engine's search compares at most so many per place. */
const SHORT_PART = 16;
/** Product of both lengths up to which the engine's search is fast at its worst, about 0.4 ms. */
const SMALL_SEARCH = 1 << 20;

/**
 * Whether `text` holds `part`, in time linear in both. The engine's own search may compare each character of one with each
 * of the other, and so may that of Buffer: a user who chooses both could stop a thread for minutes.
 */
export const hasPart = (text: string, part: string): boolean =>
  part.length <= SHORT_PART || part.length * text.length <= SMALL_SEARCH
    ? text.includes(part)
    : part.length <= text.length && isFoundOnePass(text, part);

/** The search of Knuth, Morris and Pratt: it never looks at a character of the text that it has left behind. */
const isFoundOnePass = (text: string, part: string): boolean => {
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== c) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === c) matched++;
    if (matched === part.length) return true;
  }
  return false;
};

/** For each prefix of the part, the length of its longest end that also begins the part. */
const bordersOf = (part: string): Int32Array => {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at++) {
    const c = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== c) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === c) length++;
    borders[at] = length;
  }
  return borders;
};

/** `text` without the `ending`s at its end. A pattern such as `/x+$/` tries every place from which the letter repeats. */
export const withoutEnding = (text: string, ending: string): string => {
  let end = text.length;
  while (ending !== '' && end >= ending.length && text.startsWith(ending, end - ending.length)) end -= ending.length;
  return text.slice(0, end);
};
