import { type Command } from 'commander';
import { candidatesFor } from './candidates.js';
import { namesOf, SAFE } from './names.js';

/** Ends of a reply, for the scripts of the shells: whether the shell may add names of files. */
const [WITH_FILES, WITHOUT_FILES] = [0, 4];

/** Prints what the last word of a line may be, for the script of a shell: `value<tab>description`, one a line. */
export const complete = async (program: Command, line: readonly string[]): Promise<void> => {
  const { known, named, isFile, globals, word, before } = candidatesFor(program, line);
  // Nobody can be told of a failure while a line is typed.
  const names = named === undefined ? [] : await namesOf(named, globals).catch(() => []);
  const prefix = before === '' ? word : word.slice(before.length);
  const lines = [...known, ...names]
    .filter(({ value }) => value.startsWith(prefix) && (SAFE.test(value) || value.startsWith('--')))
    .map(({ value, description }) => `${before}${value}\t${description.replaceAll(/\p{Cc}/gu, ' ')}`);
  process.stdout.write([...new Set(lines), `:${isFile ? WITH_FILES : WITHOUT_FILES}`, ''].join('\n'));
};
