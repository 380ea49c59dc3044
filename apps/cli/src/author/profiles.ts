import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';
import { CommandFailure } from './failure.js';
import { isFields } from './json.js';

export interface Profile {
  readonly url: string;
  readonly apiKey: string;
  /** Workspace of commands that name none. */
  readonly workspaceId: string | null;
}

export interface Profiles {
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Server of each folder whose `./.env` was confirmed (docs/reference/command-line.md#server). */
  readonly folders: Readonly<Record<string, string>>;
}

/** A file beyond this is none of ours. */
const MOST_BYTES = 1024 * 1024;
const NO_PROFILES: Profiles = { current: null, profiles: {}, folders: {} };

type Environment = Readonly<Record<string, string | undefined>>;

/** Place of the profiles: SLUICE_CONFIG, else where the system keeps settings of its user. */
export const profilesFile = (env: Environment, platform = process.platform, home = homedir()): string => {
  const given = env['SLUICE_CONFIG']?.trim() ?? '';
  if (given !== '') return path.resolve(given);
  const settings = platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  const fallback = platform === 'win32' ? path.join(home, 'AppData', 'Roaming') : path.join(home, '.config');
  // A relative path is to be ignored, by the specification of these variables.
  const folder = settings !== undefined && path.isAbsolute(settings) ? settings : fallback;
  return path.join(folder, 'sluice', 'config.json');
};

/** Reads the profiles. A file that other users may read is closed to them, with a warning. Throws CommandFailure. */
export const readProfiles = (file: string, warn: (text: string) => void): Profiles => {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return NO_PROFILES;
    if (!stats.isFile() || stats.size > MOST_BYTES) throw new Error('it is no file of profiles');
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
      chmodSync(file, 0o600);
      warn(`warning: ${file} holds API keys and other users could use it (mode ${octal(stats.mode)}); it is 0600 now`);
    }
    return profilesIn(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new CommandFailure({
      exit: 2,
      code: 'usage',
      message: `${file} cannot be used: ${messageOf(error)}. Correct it, or remove it and run "sluice login"`,
    });
  }
};

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`;

const profilesIn = (value: unknown): Profiles => {
  if (!isFields(value)) throw new Error('it must be an object');
  const { current, profiles = {}, folders = {} } = value;
  if (!isFields(profiles)) throw new Error('profiles must be an object');
  const read = Object.entries(profiles).map(([name, each]) => [name, profileIn(name, each)] as const);
  return {
    current: typeof current === 'string' ? current : null,
    profiles: Object.fromEntries(read),
    folders: isFields(folders) ? Object.fromEntries(Object.entries(folders).filter(isText)) : {},
  };
};

const profileIn = (name: string, value: unknown): Profile => {
  const { url, api_key: apiKey, workspace_id: workspaceId } = isFields(value) ? value : {};
  if (typeof url === 'string' && URL.canParse(url) && typeof apiKey === 'string')
    return { url, apiKey, workspaceId: typeof workspaceId === 'string' ? workspaceId : null };
  throw new Error(`profile ${JSON.stringify(name)} must have url and api_key`);
};

const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';

/** Replaces the file as a whole, so that a reader and a crash find the former one or this one. */
export const writeProfiles = (file: string, { current, profiles, folders }: Profiles): void => {
  const stored = Object.entries(profiles).map(([name, { url, apiKey, workspaceId }]) => [
    name,
    { url, api_key: apiKey, workspace_id: workspaceId },
  ]);
  const beside = Object.keys(folders).length === 0 ? {} : { folders };
  const text = JSON.stringify({ current, profiles: Object.fromEntries(stored) as unknown, ...beside }, null, 2);
  try {
    replace(file, `${text}\n`);
  } catch (error) {
    throw new CommandFailure({ exit: 1, code: 'failed', message: `${file} cannot be written: ${messageOf(error)}` });
  }
};

const replace = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // A link, such as one into a repository of settings, stays one.
  const target = statSync(file, { throwIfNoEntry: false }) === undefined ? file : realpathSync(file);
  const next = `${target}.${process.pid}`;
  rmSync(next, { force: true });
  try {
    writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(next, target);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
};
