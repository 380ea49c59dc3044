import { parseEnv } from 'node:util';
import { type Command } from 'commander';
import { messageOf } from '#libs/kernel/error-message.js';
import { wrongUsage } from './failure.js';
import { collect } from './globals.js';
import { exactly, type Fields, isFields } from './json.js';
import { readOption, readText } from './read-file.js';

export interface PropOptions {
  readonly prop?: readonly string[];
  readonly props?: string;
  readonly envFile?: string;
  readonly unset?: readonly string[];
}

/** What the props of a command line need of their surroundings. */
export interface PropSources {
  readonly read: (file: string) => string;
  /** Variable of the environment or, first, of `--env-file`. */
  readonly variable: (name: string) => string | undefined;
}

const FORM = /^([A-Za-z_$][\w$]{0,99})(:?=)([^]*)$/;

/**
 * The values of `--props FILE`, then those of each `--prop`: `k=text`, `k:=JSON`, `k=@FILE`, `k=env:VARIABLE`. Null for
 * each `--unset`. Throws CommandFailure, which shows no value, because it may be secret.
 */
export const propsOf = ({ prop = [], props, unset = [] }: PropOptions, sources: PropSources): Fields => {
  const values: Record<string, unknown> = { ...(props === undefined ? {} : propsIn(props, sources)) };
  const named = namedValues('--prop', prop, sources);
  for (const [name, value] of Object.entries(named)) define(values, name, value);
  for (const name of unset) define(values, name, null);
  return values;
};

/** The values of an option that is repeated, by their names. */
export const namedValues = (option: string, given: readonly string[], sources: PropSources): Fields => {
  const values: Record<string, unknown> = {};
  for (const each of given) {
    const [, name, sign, value] = FORM.exec(each) ?? [];
    if (name === undefined || value === undefined)
      throw wrongUsage(`${option} must be name=text, name:=JSON, name=@FILE or name=env:VARIABLE`);
    const place = { option, name };
    define(values, name, sign === ':=' ? jsonOf(place, value) : textOf(place, value, sources));
  }
  return values;
};

/** Also a prop with the name of a member of every object. */
const define = (values: Record<string, unknown>, name: string, value: unknown): void =>
  void Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true });

const propsIn = (file: string, { read }: PropSources): Fields => {
  try {
    const values = exactly(read(file));
    if (isFields(values)) return values;
  } catch (error) {
    throw wrongUsage(`--props: ${file} cannot be used: ${messageOf(error)}`);
  }
  throw wrongUsage(`--props: ${file} must be an object of props by their names`);
};

interface Place {
  readonly option: string;
  readonly name: string;
}

const jsonOf = ({ option, name }: Place, value: string): unknown => {
  try {
    return exactly(value);
  } catch {
    throw wrongUsage(`${option} ${name}:= must be JSON; for a text use ${name}=`);
  }
};

const textOf = ({ option, name }: Place, value: string, { read, variable }: PropSources): string => {
  if (value.startsWith('@')) {
    try {
      return read(value.slice(1));
    } catch (error) {
      throw wrongUsage(`${option} ${name}: ${messageOf(error)}`);
    }
  }
  if (!value.startsWith('env:')) return value;
  const found = variable(value.slice('env:'.length));
  if (found !== undefined) return found;
  throw wrongUsage(`${option} ${name}: the variable ${value.slice('env:'.length)} is not set`);
};

/** Adds the options that give values of props. */
export const withPropOptions = (command: Command): Command =>
  command
    .option('--prop <name=value>', 'name=text, name:=JSON, name=@FILE or name=env:VARIABLE; may be repeated', collect)
    .option('--props <file>', 'a file with an object of props')
    .option('--env-file <file>', 'variables for name=env:VARIABLE');

/** Of this process. */
export const propSources = (
  env: Readonly<Record<string, string | undefined>>,
  inFile: Readonly<Record<string, string | undefined>>,
): PropSources => ({
  read: (file) => readText(file),
  variable: (name) => inFile[name] ?? env[name],
});

/** Variables of `--env-file`. Throws CommandFailure. */
export const variablesIn = (file: string | undefined): Readonly<Record<string, string | undefined>> =>
  file === undefined ? {} : parseEnv(readOption('--env-file', file));
