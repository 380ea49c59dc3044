/** Characters of a run's text that are searched, and words of it that are remembered. */
const TEXT_CHARS = 4_096;
const MOST_WORDS = 200;

const WORD = /[\p{L}\p{N}]+/gu;

/** Words of a text, without regard to case, each once. */
export const wordsOf = (text: string, most = MOST_WORDS): readonly string[] => {
  const words = new Set<string>();
  for (const [word] of text.slice(0, TEXT_CHARS).toLowerCase().normalize('NFC').matchAll(WORD)) {
    words.add(word);
    if (words.size === most) break;
  }
  return [...words];
};
