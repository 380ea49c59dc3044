/**
 * Writes JSON values as one YAML 1.2 document. Only what this server stores is written, so no YAML of a user is read here
 * (docs/reference/workflows.md#yaml-read). Whatever may mean something else to a reader is quoted as in JSON.
 */
export const yamlOf = (value: unknown): string => (isBlock(value) ? blockOf(value, 0) : inlineOf(value, 0).trimStart());

type Block = readonly unknown[] | Readonly<Record<string, unknown>>;

const STEP = 2;
/** A key that is longer needs the form with `?`. */
const LONGEST_KEY = 1_000;
const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$./-]*$/;
const PLAIN = /^[A-Za-z_](?:[A-Za-z0-9_ .,()/@^+-]*[A-Za-z0-9_.()/@^+-])?$/;
/** Of YAML 1.1 too, because other programs read such files. */
const NO_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** Characters that YAML does not allow unescaped, or takes for the end of a line in some version. */
const ESCAPED = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;
const LITERAL = /^[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u;
const BLANK_LINE = /^[ \t]+$/m;

const isBlock = (value: unknown): value is Block =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

const blockOf = (value: Block, indent: number): string => {
  const pad = ' '.repeat(indent);
  if (Array.isArray(value))
    return value
      .map((each: unknown) =>
        // The first line of a list or object stands beside the dash.
        isBlock(each)
          ? `${pad}- ${blockOf(each, indent + STEP).slice(indent + STEP)}`
          : `${pad}-${inlineOf(each, indent)}`,
      )
      .join('');
  return Object.entries(value)
    .map(
      ([key, each]) =>
        `${pad}${keyOf(key, pad)}:${isBlock(each) ? `\n${blockOf(each, indent + STEP)}` : inlineOf(each, indent)}`,
    )
    .join('');
};

const keyOf = (key: string, pad: string): string => {
  if (key.length > LONGEST_KEY) return `? ${quoted(key)}\n${pad}`;
  return PLAIN_KEY.test(key) && !NO_TEXT.test(key) ? key : quoted(key);
};

/** What stands behind a key or a dash, with the end of its line. */
const inlineOf = (value: unknown, indent: number): string => {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? ' []\n' : ' {}\n';
  if (typeof value !== 'string') return ` ${JSON.stringify(value)}\n`;
  if (isLiteral(value)) return literalOf(value, ' '.repeat(indent + STEP));
  return PLAIN.test(value) && !NO_TEXT.test(value) ? ` ${value}\n` : ` ${quoted(value)}\n`;
};

const isLiteral = (text: string): boolean =>
  text.includes('\n') && text.trim() !== '' && LITERAL.test(text) && !BLANK_LINE.test(text);

/** A text of several lines, such as code, as it is. */
const literalOf = (text: string, pad: string): string => {
  const indented = /^[ \n]/.test(text) ? String(STEP) : '';
  const [kept, body] = !text.endsWith('\n') ? ['-', text] : [text.endsWith('\n\n') ? '+' : '', text.slice(0, -1)];
  return ` |${indented}${kept}\n${body.replace(/^(?=.)/gm, pad)}\n`;
};

const quoted = (text: string): string =>
  JSON.stringify(text).replace(ESCAPED, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
