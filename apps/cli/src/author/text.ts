import pc from 'picocolors';
import stringWidth from 'string-width';

/** What a part of a line is, which decides its colour. */
export type Tone = 'strong' | 'dim' | 'good' | 'bad' | 'warn';
export type Part = string | { readonly text: string; readonly as: Tone };
/** Text of one line. Nothing in it moves the cursor, because only the printer adds escapes. */
export type Line = string | readonly Part[];

/** Characters that a terminal acts on, or that change the order of the others. */
const ACTIVE = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** As `harmless`, for several lines: line ends and tabs stay. */
export const harmlessLines = (text: string): string =>
  text.replace(ACTIVE, (found) => (found === '\n' || found === '\t' ? found : numbered(found)));

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text of others as it may be printed: what a terminal would act on is shown by its number. */
export const harmless = (text: string): string => text.replace(ACTIVE, (found) => SHORT[found] ?? numbered(found));

const numbered = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** JSON that a terminal may show: the same value, with C1 controls and line separators escaped, too. */
export const harmlessJson = (json: string): string => json.replace(JSON_ACTIVE, numbered);

const JSON_ACTIVE = /[\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export interface Look {
  readonly colours: boolean;
  /** Width of the terminal; undefined in a pipe, where nothing is cut. */
  readonly columns: number | undefined;
}

/** A line as it is printed. */
export const printed = (line: Line, { colours }: Look): string => {
  const paint = pc.createColors(colours);
  const tones: Readonly<Record<Tone, (text: string) => string>> = {
    strong: paint.bold,
    dim: paint.dim,
    good: paint.green,
    bad: paint.red,
    warn: paint.yellow,
  };
  const parts = typeof line === 'string' ? [line] : line;
  return parts
    .map((part) => (typeof part === 'string' ? harmless(part) : tones[part.as](harmless(part.text))))
    .join('');
};

export interface Cell {
  readonly text: string;
  readonly as?: Tone;
}

const GAP = '  ';
const NARROWEST = 8;

/** Rows below their headings. On a terminal the widest columns are cut until the rows fit. */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly (string | Cell)[])[],
  { columns }: Look,
): readonly Line[] => {
  const cells = [headings.map((text): Cell => ({ text, as: 'dim' })), ...rows.map((row) => row.map(cellOf))];
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => stringWidth(row[at]?.text ?? ''))));
  const fitted = columns === undefined ? widths : fit(widths, columns - GAP.length * (headings.length - 1));
  return cells.map((row) =>
    row.flatMap(({ text, as }, at): readonly Part[] => {
      const width = fitted[at] ?? 0;
      const shown = cut(text, width);
      const part = as === undefined ? shown : { text: shown, as };
      if (at === row.length - 1) return [part];
      return [part, ' '.repeat(Math.max(0, width - stringWidth(shown))) + GAP];
    }),
  );
};

const cellOf = (cell: string | Cell): Cell =>
  typeof cell === 'string' ? { text: harmless(cell) } : { ...cell, text: harmless(cell.text) };

const fit = (widths: readonly number[], room: number): readonly number[] => {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, width) => sum + width, 0) - room; over > 0;) {
    const widest = Math.max(...fitted);
    if (widest <= NARROWEST) return fitted;
    const at = fitted.indexOf(widest);
    // Down to the next widest, so that equal ones shrink together.
    const next = Math.max(NARROWEST, ...fitted.filter((width) => width < widest));
    const less = Math.max(1, Math.min(over, widest - next));
    fitted[at] = widest - less;
    over -= less;
  }
  return fitted;
};

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text, or its begin with an ellipsis, in so many columns. */
export const cut = (text: string, width: number): string => {
  if (stringWidth(text) <= width) return text;
  let [kept, used] = ['', 0];
  for (const { segment } of graphemes.segment(text)) {
    const more = stringWidth(segment);
    if (used + more > width - 1) break;
    kept += segment;
    used += more;
  }
  return `${kept}…`;
};

/** As `momentOf`, for a field of an answer. `none` where it is no time. */
export const momentIn = (epochMs: unknown, look: Look, none = ''): string =>
  typeof epochMs === 'number' ? momentOf(epochMs, look) : none;

export const secondIn = (epochSeconds: unknown, look: Look, none = ''): string =>
  typeof epochSeconds === 'number' ? momentOf(epochSeconds * 1_000, look) : none;

/** A moment as people read it: local with its zone on a terminal, else in UTC. */
export const momentOf = (epochMs: number, { columns }: Look): string => {
  // A server may tell a time that is none.
  if (Number.isNaN(new Date(epochMs).getTime())) return String(epochMs);
  if (columns === undefined) return new Date(epochMs).toISOString();
  const minutes = -new Date(epochMs).getTimezoneOffset();
  const local = new Date(epochMs + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${local} ${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
};
