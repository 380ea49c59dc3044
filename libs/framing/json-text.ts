/** Checks JSON texts without parsing them into objects, which can take thirty times the size of the text. */

export const MAX_NESTING = 256;
/** Length up to which the engine's own parser is faster and its result is small. */
const PARSED_LENGTH = 16 * 1024;

/** True when the text is JSON that nests at most 256 levels deep. */
export const isPlainJson = (text: string): boolean => {
  if (text.length > PARSED_LENGTH) return new JsonScanner(text).isJson();
  if (nestsTooDeep(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** True beyond 256 levels, or beyond fewer. Cheap for texts with few brackets. */
export const nestsTooDeep = (text: string, levels = MAX_NESTING): boolean => {
  if (text.length <= levels) return false;
  // Brackets within strings count too. This gives an upper bound, which is refined only when it exceeds the limit.
  let opened = 0;
  for (let at = text.indexOf('['); at >= 0 && opened <= levels; at = text.indexOf('[', at + 1)) opened++;
  for (let at = text.indexOf('{'); at >= 0 && opened <= levels; at = text.indexOf('{', at + 1)) opened++;
  return opened > levels && depthOf(text) > levels;
};

/** Nesting depth of a JSON text. Stops counting beyond the limit. */
export const depthOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === 92) i++;
      else if (c === 34) inString = false;
    } else if (c === 34) inString = true;
    else if (c === 91 || c === 123) {
      if (++depth > deepest) deepest = depth;
      if (deepest > MAX_NESTING) return deepest;
    } else if (c === 93 || c === 125) depth--;
  }
  return deepest;
};

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const ARRAY = 91;
const ARRAY_END = 93;
const OBJECT = 123;
const OBJECT_END = 125;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /true|false|null/y;

/** Scans a text once, and keeps one number for each level of nesting. */
class JsonScanner {
  private at = 0;
  private readonly open: number[] = [];

  constructor(private readonly text: string) {}

  isJson(): boolean {
    for (;;) {
      if (!this.value()) return false;
      // A value has ended. Its containers may end with it.
      for (;;) {
        const next = this.next();
        const inside = this.open.at(-1);
        if (inside === undefined) return this.at === this.text.length;
        this.at++;
        if (next === COMMA) {
          if (inside === OBJECT && !this.key()) return false;
          break;
        }
        if (next !== (inside === OBJECT ? OBJECT_END : ARRAY_END)) return false;
        this.open.pop();
      }
    }
  }

  /** Reads one scalar or empty container, and opens the containers before it. */
  private value(): boolean {
    for (;;) {
      const first = this.next();
      if (first !== ARRAY && first !== OBJECT) return first === QUOTE ? this.string() : this.word();
      this.at++;
      if (this.next() === (first === ARRAY ? ARRAY_END : OBJECT_END)) {
        if (this.open.length >= MAX_NESTING) return false;
        this.at++;
        return true;
      }
      if (this.open.push(first) > MAX_NESTING) return false;
      if (first === OBJECT && !this.key()) return false;
    }
  }

  private key(): boolean {
    if (this.next() !== QUOTE || !this.string() || this.next() !== COLON) return false;
    this.at++;
    return true;
  }

  private string(): boolean {
    const { text } = this;
    const { length } = text;
    for (let at = this.at + 1; at < length; at++) {
      const c = text.charCodeAt(at);
      if (c === QUOTE) {
        this.at = at + 1;
        return true;
      }
      if (c < 32) return false;
      if (c !== BACKSLASH) continue;
      this.at = at;
      if (!this.matches(ESCAPE)) return false;
      at = this.at - 1;
    }
    return false;
  }

  private word(): boolean {
    return this.matches(NUMBER) || this.matches(WORD);
  }

  private matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  /** Code of the next character that is not white space, or NaN at the end. */
  private next(): number {
    for (; ; this.at++) {
      const c = this.text.charCodeAt(this.at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return c;
    }
  }
}
