import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { messageOf } from '#libs/kernel/error-message.js';
import { wrongUsage } from '../workflows/failure.js';
import { exactly, type Fields, isFields } from './json.js';

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
  for (const given of prop) {
    const [, name, sign, value] = FORM.exec(given) ?? [];
    if (name === undefined || value === undefined)
      throw wrongUsage('--prop must be name=text, name:=JSON, name=@FILE or name=env:VARIABLE');
    define(values, name, sign === ':=' ? jsonOf(name, value) : textOf(name, value, sources));
  }
  for (const name of unset) define(values, name, null);
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

const jsonOf = (name: string, value: string): unknown => {
  try {
    return exactly(value);
  } catch {
    throw wrongUsage(`--prop ${name}:= must be JSON; for a text use ${name}=`);
  }
};

const textOf = (name: string, value: string, { read, variable }: PropSources): string => {
  if (value.startsWith('@')) {
    try {
      return read(value.slice(1));
    } catch (error) {
      throw wrongUsage(`--prop ${name}: ${messageOf(error)}`);
    }
  }
  if (!value.startsWith('env:')) return value;
  const found = variable(value.slice('env:'.length));
  if (found !== undefined) return found;
  throw wrongUsage(`--prop ${name}: the variable ${value.slice('env:'.length)} is not set`);
};

/** Of this process. */
export const propSources = (
  env: Readonly<Record<string, string | undefined>>,
  inFile: Readonly<Record<string, string | undefined>>,
): PropSources => ({
  read: (file) => readFileSync(file, 'utf8'),
  variable: (name) => inFile[name] ?? env[name],
});

/** Variables of `--env-file`. Throws CommandFailure. */
export const variablesIn = (file: string | undefined): Readonly<Record<string, string | undefined>> =>
  file === undefined ? {} : parseEnv(fileText('--env-file', file));

/** The file that an option names. Throws CommandFailure. */
export const fileText = (option: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrongUsage(`${option}: ${messageOf(error)}`);
  }
};
