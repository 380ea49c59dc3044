import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as util from 'node:util';

/**
 * The first step of every process. This file runs on every Node since 16: it imports nothing but modules of Node, and
 * the rest of the program is imported after it.
 */

/**
 * Oldest version of each line of Node that runs Sluice, equal to `engines` of package.json. Lines after the last run
 * it, too.
 */
export const OLDEST_NODES: readonly (readonly [number, number])[] = [
  [20, 19],
  [22, 13],
  [24, 0],
];

/** Ends the process with one line when Node is too old, or when `./.env` has a wrong line. */
export const beforeStart = (program: string): void => {
  const problem = nodeProblem(process.versions.node, process.execPath) ?? readEnvFile(process.cwd(), process.env);
  if (problem === undefined) return;
  process.stderr.write(`${program} cannot start: ${problem}\n`);
  process.exit(1);
};

export const nodeProblem = (version: string, execPath: string): string | undefined => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [newest = 0] = OLDEST_NODES[OLDEST_NODES.length - 1] ?? [];
  if (major > newest || OLDEST_NODES.some((oldest) => major === oldest[0] && minor >= oldest[1])) return undefined;
  return (
    `it needs Node.js 20.19, 22.13, 24 or later, and ${execPath} is Node.js ${version}. ` +
    `Install one of these, or put it first in PATH`
  );
};

/** A larger file has no settings. It may belong to whoever wrote the folder. */
const MOST_BYTES = 1024 * 1024;

/** Text of `<folder>/.env`. Empty where there is no such file. Throws for one that cannot be read. */
export const envFileText = (folder: string): string => {
  const path = join(folder, '.env');
  const found = statSync(path, { throwIfNoEntry: false });
  // A folder of this name belongs to other tools, such as Python's. A pipe would never end.
  if (found?.isFile() !== true) return '';
  if (found.size > MOST_BYTES) throw new Error(`it has ${found.size} bytes, and ${MOST_BYTES} are read at most`);
  return readFileSync(path, 'utf8');
};

/** The user's keys are not kept where a folder says so, which may be somebody else's. */
const NEVER_OF_FILE = 'SLUICE_CONFIG';

/**
 * Adds the SLUICE_ variables of `<folder>/.env` to `env`, which wins. Other names are left alone, because other programs
 * (Docker Compose) read the same file. Returns the problem of a file that cannot be used.
 */
export const readEnvFile = (folder: string, env: Record<string, string | undefined>): string | undefined => {
  const path = join(folder, '.env');
  let text: string;
  try {
    text = envFileText(folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${path} cannot be read: ${reason}. Let the user of this process read it, or remove it`;
  }
  const wrong = wrongLineOf(text);
  if (wrong !== undefined) return `${path}, line ${wrong.line}: ${wrong.reason}`;
  for (const [name, value] of Object.entries(util.parseEnv(text))) {
    if (name.startsWith('SLUICE_') && name !== NEVER_OF_FILE && env[name] === undefined) env[name] = value;
  }
  return undefined;
};

interface WrongLine {
  readonly line: number;
  readonly reason: string;
}

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=\s*(.*)$/;

/**
 * Finds the first line that Node's parser would skip or misread without an error. Shows no value, because it may be
 * secret.
 */
const wrongLineOf = (text: string): WrongLine | undefined => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const value = ASSIGNMENT.exec(line)?.[1];
    if (value === undefined) {
      return { line: at + 1, reason: 'it is not NAME=value. Correct it, or put # in front of it' };
    }
    const quote = /^["'`]/.exec(value)?.[0];
    if (quote === undefined || value.includes(quote, 1)) continue;
    let end = at + 1;
    while (end < lines.length && !(lines[end] ?? '').includes(quote)) end++;
    if (end === lines.length)
      return { line: at + 1, reason: `the quotation mark ${quote} has no end. Close it, or remove it` };
    at = end;
  }
  return undefined;
};
