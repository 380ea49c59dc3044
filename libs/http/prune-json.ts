/**
 * Number of entries kept in all containers of one depth. A shortened event of 1 KB shows fewer than 512 values, nearest
 * to the top first. Entries beyond this number can therefore never show.
 */
const MAX_ENTRIES = 600;
/** Number of characters kept of one text, as written with its escapes. */
const MAX_TEXT = 1_100;

const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9;

/**
 * Prunes a JSON text to MAX_ENTRIES per depth and MAX_TEXT per text, keeping its shape. A shortened form can then be
 * made without parsing the whole. Takes one pass over the text; a text that is not JSON is cut anywhere.
 */
export const pruneJson = (text: string): string => new Pruning(text).run();

class Pruning {
  private at = 0;
  private readonly out: string[] = [];
  /** Number of entries kept, by depth. */
  private readonly kept: number[] = [];

  constructor(private readonly text: string) {}

  run(): string {
    this.value(0);
    return this.out.join('');
  }

  /** Copies and prunes the value at the cursor. The JSON that a run may emit nests at most 256 deep. */
  private value(depth: number): void {
    const c = this.peek();
    if (c === QUOTE) this.shortText();
    else if (c === OPEN_ARRAY || c === OPEN_OBJECT) this.container(depth + 1, c === OPEN_OBJECT);
    else this.out.push(this.text.slice(this.at, (this.at = this.endOfWord())));
  }

  private container(depth: number, isObject: boolean): void {
    this.out.push(isObject ? '{' : '[');
    this.at++;
    let first = true;
    while (this.at < this.text.length) {
      const c = this.peek();
      if (c === CLOSE_ARRAY || c === CLOSE_OBJECT) break;
      if (c === COMMA) {
        this.at++;
        continue;
      }
      const count = this.kept[depth] ?? 0;
      if (count >= MAX_ENTRIES) {
        this.toEndOfContainer(depth);
        break;
      }
      if (!this.entry(depth, isObject, first)) continue;
      this.kept[depth] = count + 1;
      first = false;
    }
    this.at++;
    this.out.push(isObject ? '}' : ']');
  }

  /** Copies an entry. Returns false when it is left out because its name is too long to show. */
  private entry(depth: number, isObject: boolean, first: boolean): boolean {
    if (!isObject) {
      if (!first) this.out.push(',');
      this.value(depth);
      return true;
    }
    const from = this.at;
    this.at = this.endOfText();
    const name = this.at - from > MAX_TEXT ? undefined : this.text.slice(from, this.at);
    if (this.peek() === COLON) this.at++;
    if (name === undefined) {
      this.skipValue();
      return false;
    }
    this.out.push(first ? '' : ',', name, ':');
    this.value(depth);
    return true;
  }

  private shortText(): void {
    const from = this.at;
    this.at = this.endOfText();
    if (this.at - from <= MAX_TEXT) this.out.push(this.text.slice(from, this.at));
    else this.out.push(this.text.slice(from, wholeEscapes(this.text, from + 1, from + MAX_TEXT)), '"');
  }

  private skipValue(): void {
    const c = this.peek();
    if (c === QUOTE) this.at = this.endOfText();
    else if (c === OPEN_ARRAY || c === OPEN_OBJECT) {
      this.at++;
      this.toEndOfContainer(Number.POSITIVE_INFINITY);
      this.at++;
    } else this.at = this.endOfWord();
  }

  /** Moves to the closing bracket of the container at the cursor. Nothing follows the outermost one. */
  private toEndOfContainer(depth: number): void {
    const { text } = this;
    if (depth === 1) {
      this.at = text.length;
      return;
    }
    for (let open = 1; this.at < text.length; this.at++) {
      const c = text.charCodeAt(this.at);
      if (c === QUOTE) this.at = this.endOfText() - 1;
      else if (c === OPEN_ARRAY || c === OPEN_OBJECT) open++;
      else if ((c === CLOSE_ARRAY || c === CLOSE_OBJECT) && --open === 0) return;
    }
  }

  /** Skips white space and returns the character at the cursor; NaN at the end. */
  private peek(): number {
    let c = this.text.charCodeAt(this.at);
    while (isSpace(c)) c = this.text.charCodeAt(++this.at);
    return c;
  }

  /** Index after the closing quote. */
  private endOfText(): number {
    const { text } = this;
    let i = this.at + 1;
    for (; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === QUOTE) break;
      if (c === BACKSLASH) i++;
    }
    return i + 1;
  }

  /** Index after a number, true, false or null, at least one character on. */
  private endOfWord(): number {
    const { text } = this;
    let i = this.at + 1;
    for (; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === COMMA || c === CLOSE_ARRAY || c === CLOSE_OBJECT || isSpace(c)) break;
    }
    return i;
  }
}

/** Last index up to `limit` that is not within an escape. */
const wholeEscapes = (text: string, from: number, limit: number): number => {
  let i = from;
  for (;;) {
    const length = text.charCodeAt(i) !== BACKSLASH ? 1 : text.charAt(i + 1) === 'u' ? 6 : 2;
    if (i + length > limit) return i;
    i += length;
  }
};
