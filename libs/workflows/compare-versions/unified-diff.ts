import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/**
 * Bounds of the comparison, whose time grows with the lines multiplied by the changed ones. Definitions may have millions
 * of lines. The comparison lets other requests pass after each step.
 */
const MAX_LINES = 20_000;
const MAX_CHANGED_LINES = 1_000;

/** Empty for equal texts. Beyond the bounds all lines of one text are replaced by those of the other. */
export const unifiedDiff = async (from: NamedText, to: NamedText): Promise<string> => {
  if (from.text === to.text) return '';
  const compared = linesIn(from.text) + linesIn(to.text) > MAX_LINES ? undefined : await comparison(from, to);
  return compared ?? replacement(from, to);
};

/** Undefined when too much has changed. */
const comparison = (from: NamedText, to: NamedText): Promise<string | undefined> =>
  new Promise((resolve) => {
    createTwoFilesPatch(from.name, to.name, from.text, to.text, undefined, undefined, {
      context: 3,
      maxEditLength: MAX_CHANGED_LINES,
      headerOptions: FILE_HEADERS_ONLY,
      callback: resolve,
    });
  });

/** Makes no list of the lines, of which there may be millions. */
const replacement = (from: NamedText, to: NamedText): string =>
  [
    `--- ${from.name}\n+++ ${to.name}\n@@ -${rangeOf(from.text)} +${rangeOf(to.text)} @@\n`,
    marked(from.text, '-'),
    marked(to.text, '+'),
  ].join('');

const rangeOf = (text: string): string => (text === '' ? '0,0' : `1,${linesIn(text)}`);

const marked = (text: string, mark: '-' | '+'): string =>
  text === '' ? '' : `${mark}${text.slice(0, -1).replaceAll('\n', `\n${mark}`)}\n`;

/** Lines of a text whose last line is ended. */
const linesIn = (text: string): number => {
  let count = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) count++;
  return count;
};
