/** Longest URL that is read, in characters. The parser takes quadratic time for a long host in another script than Latin. */
export const MAX_URL_CHARS = 2_048;

/** The URL that a text is; undefined when it is none, or longer than MAX_URL_CHARS. */
export const urlIn = (text: string, base?: URL): URL | undefined =>
  text.length <= MAX_URL_CHARS && URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
