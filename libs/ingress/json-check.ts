/** State of the parser between two characters. */
enum At {
  Value,
  /** After `[`. */
  ValueOrEnd,
  /** After `{`. */
  KeyOrEnd,
  Key,
  Colon,
  AfterValue,
  InString,
  Escape,
  /** Digits of `\u` are missing; `hexLeft` counts them. */
  Hex,
  Minus,
  Zero,
  Digits,
  Point,
  Fraction,
  E,
  ESign,
  Exponent,
  Word,
}

const LITERALS: Readonly<Record<string, string>> = { t: 'rue', f: 'alse', n: 'ull' };
const ESCAPABLE = '"\\/bfnrt';
const NUMBER_ENDS: ReadonlySet<At> = new Set([At.Zero, At.Digits, At.Fraction, At.Exponent]);

const isDigit = (c: string): boolean => c >= '0' && c <= '9';

/**
 * Decides whether a text is JSON, exactly as JSON.parse would, and how deep it is nested. It builds no values, so time
 * and memory depend on the length of the text only. It can pause and continue, so a long text is checked in many turns.
 */
export class JsonCheck {
  /** Greatest number of brackets open at once. */
  depth = 0;
  private at: At = At.Value;
  private next = 0;
  /** One entry per open bracket: true for `{`. */
  private readonly open: boolean[] = [];
  private isKey = false;
  private hexLeft = 0;
  private word = '';

  constructor(private readonly text: string) {}

  /** Reads up to `count` more characters. Returns undefined while characters are left. */
  read(count: number): boolean | undefined {
    const end = Math.min(this.text.length, this.next + count);
    while (this.next < end) {
      if (this.at === At.InString) this.skipPlain(end);
      if (this.next < end && !this.accept(this.text[this.next++] as string)) return false;
    }
    return this.next < this.text.length ? undefined : this.isComplete();
  }

  private isComplete(): boolean {
    return this.open.length === 0 && (this.at === At.AfterValue || NUMBER_ENDS.has(this.at));
  }

  /** Skips the plain characters of a string, where most characters of most texts are. */
  private skipPlain(end: number): void {
    for (; this.next < end; this.next++) {
      const c = this.text.charCodeAt(this.next);
      if (c === 0x22 || c === 0x5c || c < 0x20) return;
    }
  }

  /** Returns false for a character that is invalid here. */
  private accept(c: string): boolean {
    switch (this.at) {
      case At.InString:
        return this.inString(c);
      case At.Escape:
        return this.escape(c);
      case At.Hex:
        if (--this.hexLeft === 0) this.at = At.InString;
        return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      case At.Word:
        return this.inWord(c);
      case At.Minus:
      case At.Zero:
      case At.Digits:
      case At.Point:
      case At.Fraction:
      case At.E:
      case At.ESign:
      case At.Exponent:
        return this.inNumber(c);
      case At.Value:
      case At.ValueOrEnd:
      case At.KeyOrEnd:
      case At.Key:
      case At.Colon:
      case At.AfterValue:
        return c === ' ' || c === '\n' || c === '\t' || c === '\r' || this.between(c);
    }
  }

  private between(c: string): boolean {
    switch (this.at) {
      case At.Value:
        return this.begin(c);
      case At.ValueOrEnd:
        return c === ']' ? this.close(false) : this.begin(c);
      case At.KeyOrEnd:
        return c === '}' ? this.close(true) : this.beginString(c, true);
      case At.Key:
        return this.beginString(c, true);
      case At.Colon:
        this.at = At.Value;
        return c === ':';
      default:
        return this.afterValue(c);
    }
  }

  private begin(c: string): boolean {
    if (c === '{' || c === '[') {
      this.open.push(c === '{');
      this.depth = Math.max(this.depth, this.open.length);
      this.at = c === '{' ? At.KeyOrEnd : At.ValueOrEnd;
      return true;
    }
    if (c === '-') this.at = At.Minus;
    else if (isDigit(c)) this.at = c === '0' ? At.Zero : At.Digits;
    else if (Object.hasOwn(LITERALS, c)) {
      this.at = At.Word;
      this.word = LITERALS[c] as string;
    } else return this.beginString(c, false);
    return true;
  }

  private beginString(c: string, isKey: boolean): boolean {
    this.isKey = isKey;
    this.at = At.InString;
    return c === '"';
  }

  private afterValue(c: string): boolean {
    const inObject = this.open.at(-1);
    if (c === ',' && inObject !== undefined) {
      this.at = inObject ? At.Key : At.Value;
      return true;
    }
    return (c === '}' || c === ']') && this.close(c === '}');
  }

  private close(isObject: boolean): boolean {
    this.at = At.AfterValue;
    return this.open.pop() === isObject;
  }

  private inString(c: string): boolean {
    if (c === '"') this.at = this.isKey ? At.Colon : At.AfterValue;
    else if (c === '\\') this.at = At.Escape;
    return c >= ' ';
  }

  private escape(c: string): boolean {
    if (c === 'u') {
      this.at = At.Hex;
      this.hexLeft = 4;
      return true;
    }
    this.at = At.InString;
    return ESCAPABLE.includes(c);
  }

  private inWord(c: string): boolean {
    const fits = this.word[0] === c;
    this.word = this.word.slice(1);
    if (this.word === '') this.at = At.AfterValue;
    return fits;
  }

  private inNumber(c: string): boolean {
    const next = numberAfter(this.at, c);
    if (next !== undefined) {
      this.at = next;
      return true;
    }
    if (!NUMBER_ENDS.has(this.at)) return false;
    this.at = At.AfterValue;
    return this.accept(c);
  }
}

/** Returns undefined for a character that is not part of the number. */
const numberAfter = (at: At, c: string): At | undefined => {
  const e = c === 'e' || c === 'E';
  if (isDigit(c)) {
    if (at === At.Minus) return c === '0' ? At.Zero : At.Digits;
    if (at === At.Digits) return At.Digits;
    if (at === At.Point || at === At.Fraction) return At.Fraction;
    return at === At.E || at === At.ESign || at === At.Exponent ? At.Exponent : undefined;
  }
  if (at === At.Zero || at === At.Digits) return c === '.' ? At.Point : e ? At.E : undefined;
  if (at === At.Fraction) return e ? At.E : undefined;
  return at === At.E && (c === '+' || c === '-') ? At.ESign : undefined;
};
