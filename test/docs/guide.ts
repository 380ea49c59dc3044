import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#test/harness/paths.js';

/**
 * A fenced block of a guide and what its info string says after the language:
 *
 * - `sh`: runs, in order, in one shell. `background=PORT` runs it in a terminal of its own until it listens on PORT.
 *   `retry` runs it again until its output is as expected. `no-run REASON` leaves it out.
 * - `text`: the expected output of the block before it, with `…` for any text in a line. `output=PORT` names the
 *   output of the background block of that port instead.
 * - `file=PATH`, with any language: the content of that file.
 *
 * The comment `<!-- stop PORT -->` stands for Ctrl-C in the terminal of that port.
 */
export interface GuideBlock {
  readonly line: number;
  readonly language: string;
  readonly file?: string;
  readonly background?: number;
  readonly output?: number;
  readonly stop?: number;
  readonly retry: boolean;
  /** Reason why this machine cannot run it. */
  readonly noRun?: string;
  readonly text: string;
}

const FENCE = /^( *)```(\S+) *([^\n]*)\n([\s\S]*?)^ *```$|^<!-- stop (\d+) -->$/gm;

const attribute = (info: string, name: string): string | undefined =>
  new RegExp(`(?:^| )${name}=(\\S+)`).exec(info)?.[1];

const portOf = (info: string, name: string): number | undefined => {
  const text = attribute(info, name);
  return text === undefined ? undefined : Number(text);
};

const blockOf = (
  line: number,
  [, indent = '', language = '', info = '', text = '', stop]: RegExpMatchArray,
): GuideBlock => {
  if (stop !== undefined) return { line, language: 'stop', stop: Number(stop), retry: false, text: '' };
  const noRun = /(?:^| )no-run ?(.*)$/.exec(info)?.[1];
  const file = attribute(info, 'file');
  const background = portOf(info, 'background');
  const output = portOf(info, 'output');
  const block: GuideBlock = {
    line,
    language,
    retry: / retry(?: |$)/.test(` ${info}`),
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  };
  const told = { file, background, output, noRun };
  return {
    ...block,
    ...(Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)) as object),
  };
};

export const blocksOf = (markdown: string): readonly GuideBlock[] =>
  [...markdown.matchAll(FENCE)].map((match) => blockOf(markdown.slice(0, match.index).split('\n').length, match));

export const readGuide = (page: string): readonly GuideBlock[] => blocksOf(readFileSync(join(ROOT, page), 'utf8'));

/** A pattern for output that a guide shows: `…` stands for any text within a line, and blanks at the ends do not count. */
export const outputPattern = (shown: string): RegExp => {
  const escaped = shown.trim().replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(escaped.replaceAll('…', '[^\\n]*'));
};
