import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';

/** A deliberate mistake, and the way to the text that its maker reads. */
export interface Mistake {
  /** Title of the row. Unique within its table. */
  readonly mistake: string;
  readonly reads: () => Promise<string>;
}

const PAGE = join(ROOT, 'docs/reference/mistakes.md');
/** Writes the texts of one table into the page instead of comparing them: for review after a change of texts. */
const writes = process.env.SLUICE_TEST_WRITE_TEXTS === '1';

/** Defines one test a row: the text must be the one on docs/reference/mistakes.md under the heading. */
export const defineMistakes = (heading: string, mistakes: readonly Mistake[]): void => {
  const expected = rowsOf(heading);
  const actual = new Map<string, string>();

  it.each(mistakes)(
    '$mistake',
    async ({ mistake, reads }) => {
      const text = plain(await reads());
      actual.set(mistake, text);
      expect(text).not.toBe('');
      if (!writes) expect(text).toBe(expected.get(mistake));
    },
    60_000,
  );

  it('is the whole table of the page, and names no mistake twice', () => {
    const titles = mistakes.map(({ mistake }) => mistake);
    expect(new Set(titles).size).toBe(titles.length);
    if (writes) write(heading, actual);
    else expect([...expected.keys()]).toEqual(titles);
  });
};

/** Replaces texts that differ from run to run by a word. */
const plain = (text: string): string =>
  text
    .replaceAll(ROOT, '<sluice>')
    .replace(/\/[\w./-]*\/sluice-[\w-]+-[A-Za-z0-9]{6}\b/g, '<folder>')
    .replace(/\b(dc|sc|wh|sub|u|o|ws|key|p|dl|run|inv)_[A-Za-z0-9_-]{10,}/g, '$1_…')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    // Frames within Node differ between its versions.
    .replace(/\nat [^\n]*\bnode:[^\n]*/g, '')
    .replace(/\b(active endpoint )e[0-9a-z]{15}/g, '$1<key>')
    // The refusing part and its words depend on the level of isolation.
    .replace(/: [^\n]*( \("[^"\n]*": a component may read and write files only [^\n]*\))(\nat [^\n]*)?/g, ': …$1')
    .replace(/\bpid \d+/g, 'pid <pid>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '<id>')
    .replace(/[ \t]+\n/g, '\n')
    .trim();

const ROW = /^\| (.+?) \| (.+) \|$/;
const cell = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('|', '&#124;')
    .replaceAll('\n', '<br>')
    .replace(/([*_`\\[\]])/g, '\\$1');
const text = (cellText: string): string =>
  cellText
    .replaceAll('<br>', '\n')
    .replace(/\\([*_`\\[\]])/g, '$1')
    .replaceAll('&#124;', '|')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');

const rowsOf = (heading: string): ReadonlyMap<string, string> => {
  const rows = new Map<string, string>();
  for (const line of sectionOf(heading).split('\n').slice(4)) {
    const [, mistake, reads] = ROW.exec(line) ?? [];
    if (mistake !== undefined && reads !== undefined) rows.set(text(mistake), text(reads));
  }
  return rows;
};

const page = (): string => (existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '');

const sectionOf = (heading: string): string => {
  const [, after = ''] = page().split(`\n## ${heading}\n`);
  return `\n${after.split('\n## ')[0] ?? ''}`;
};

const write = (heading: string, actual: ReadonlyMap<string, string>): void => {
  const rows = [...actual].map(([mistake, reads]) => `| ${cell(mistake)} | ${cell(reads)} |`);
  const table = ['', '| mistake | what its maker reads |', '|---|---|', ...rows, ''].join('\n');
  const before = page();
  const marker = `\n## ${heading}\n`;
  const old = sectionOf(heading).slice(1);
  const next = before.includes(marker)
    ? before.replace(`${marker}${old}`, () => `${marker}${table}`)
    : `${before}${marker}${table}`;
  writeFileSync(PAGE, next);
};
