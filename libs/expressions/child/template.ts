/** Finds `{{ … }}` in texts. Runs in the jail, because the text determines the recursion and time of the parser. */
import { parseExpressionAt, type Comment, type Options } from 'acorn';

export type Part =
  /** Literal text, with `\{{` replaced. */
  { readonly text: string } | { readonly code: string; readonly at: number };

/** A text without a valid expression where one begins. */
export class ExpressionSyntaxError extends Error {
  /** @param at offset in the text, in UTF-16 units */
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
    this.name = 'ExpressionSyntaxError';
  }
}

const OPEN = '{{';
const CLOSE = '}}';
/** The first expression is searched in this many characters, and then in twice as many until it is found. */
const WINDOW = 256;
/** Line comments with `}}` in one expression at which it may end. Each costs another parse. */
const MAX_COMMENTS = 16;

/** Parts of a text, in order. Empty texts are left out. Throws ExpressionSyntaxError. Time is linear in the length. */
export const readTemplate = (text: string): readonly Part[] => {
  const parts: Part[] = [];
  let plain = '';
  let at = 0;
  const endText = (): void => {
    if (plain !== '') parts.push({ text: plain });
    plain = '';
  };
  for (let open = text.indexOf(OPEN); open >= 0; open = text.indexOf(OPEN, at)) {
    if (open > at && text[open - 1] === '\\') {
      plain += text.slice(at, open - 1) + OPEN;
      at = open + OPEN.length;
      continue;
    }
    plain += text.slice(at, open);
    endText();
    const begin = open + OPEN.length;
    const end = endOf(text, begin);
    parts.push({ code: text.slice(begin, end), at: begin });
    at = end + CLOSE.length;
  }
  plain += text.slice(at);
  endText();
  return parts;
};

/** The code of a text that is one expression, with or without braces. Throws ExpressionSyntaxError. */
export const readExpression = (text: string): { readonly code: string; readonly at: number } => {
  const begin = text.length - text.trimStart().length;
  if (text.startsWith(OPEN, begin) && text.trimEnd().endsWith(CLOSE)) {
    const [part, more] = readTemplate(text.trim());
    if (part !== undefined && 'code' in part && more === undefined) return { code: part.code, at: part.at + begin };
  }
  const rest = afterBlanks(text, endOfParsed(text));
  if (rest < text.length) throw new ExpressionSyntaxError('one expression is allowed, and more follows it', rest);
  return { code: text, at: 0 };
};

/** Offset of the first `}}` that ends an expression which begins at `begin`. */
const endOf = (text: string, begin: number): number => {
  for (let size = WINDOW; ; size *= 2) {
    // A parser reads from the left, so an expression that ends within the window is the same in the whole text.
    const found = endWithin(text.slice(begin, begin + size));
    if (typeof found === 'number') return begin + found;
    if (begin + size >= text.length) throw new ExpressionSyntaxError(found.message, begin + found.at);
  }
};

/** Finds the end of an expression at the beginning of a text. */
const endWithin = (text: string): number | ExpressionSyntaxError => {
  const comments: Comment[] = [];
  const outcome = attempt(text, comments);
  // A line comment ends with its line, but the expression ends with the first `}}` that makes it parse.
  const ends = comments
    .filter(({ type }) => type === 'Line')
    .map(({ start, end }) => ({ start, close: text.slice(0, end).indexOf(CLOSE, start) }))
    .filter(({ close }) => close >= 0);
  for (const { start, close } of ends.slice(0, MAX_COMMENTS)) {
    const code = text.slice(0, start);
    const before = attempt(code, []);
    if (typeof before === 'number' && afterBlanks(code, before) === start) return close;
  }
  if (ends.length > MAX_COMMENTS)
    return new ExpressionSyntaxError(
      `an expression has ${ends.length} line comments with "}}" or more, at most ${MAX_COMMENTS} are allowed`,
      0,
    );
  if (typeof outcome !== 'number') return outcome;
  const close = afterBlanks(text, outcome);
  if (text.startsWith(CLOSE, close)) return close;
  const got = close < text.length ? JSON.stringify(text.slice(close, close + SHOWN)) : 'the end of the text';
  return new ExpressionSyntaxError(`"}}" is expected after the expression, not ${got}`, close);
};

const SHOWN = 10;

const attempt = (text: string, comments: Comment[]): number | ExpressionSyntaxError => {
  try {
    return endOfParsed(text, comments);
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return error;
    throw error;
  }
};

const OPTIONS: Options = {
  ecmaVersion: 'latest',
  preserveParens: true,
  allowAwaitOutsideFunction: false,
  allowHashBang: false,
};

/** Offset after the longest expression at the beginning of a text. Throws ExpressionSyntaxError. */
const endOfParsed = (text: string, comments: Comment[] = []): number => {
  try {
    // Always from the beginning of a text: from elsewhere, the parser counts the lines before.
    return parseExpressionAt(text, 0, { ...OPTIONS, onComment: comments }).end;
  } catch (error) {
    const isDeep = error instanceof RangeError || (error instanceof SyntaxError && /stack space/.test(error.message));
    if (isDeep) throw new ExpressionSyntaxError('the expression nests too deep', 0);
    if (!(error instanceof SyntaxError)) throw error;
    const at = 'pos' in error && typeof error.pos === 'number' ? error.pos : 0;
    throw new ExpressionSyntaxError(error.message.replace(/ \(\d+:\d+\)$/, ''), at);
  }
};

/** Offset of what follows white space and comments. */
const afterBlanks = (text: string, from: number): number => {
  const blanks = /(?:\s+|\/\/.*|\/\*[^]*?\*\/)*/y;
  blanks.lastIndex = from;
  return from + (blanks.exec(text)?.[0].length ?? 0);
};
