import { parseEnv } from 'node:util';
import { envFileText } from '#libs/hosting/before-start.js';
import { type Globals } from './globals.js';
import { type Profiles } from './profiles.js';
import { CommandFailure, wrongUsage } from './failure.js';

export interface Server {
  readonly url: string;
  readonly apiKey: string;
  /** Tells a request that was sent. */
  readonly tell?: (text: string) => void;
}

export const LOCAL = 'http://127.0.0.1:3000';
export const LOOPBACK = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]|localhost)$/;

/** Where a variable was given. `./.env` may belong to whoever wrote the folder. */
export type Given = (name: string) => { readonly value: string; readonly from: 'environment' | 'file' } | undefined;

export const givenHere: Given = (name) => {
  const value = process.env[name]?.trim() ?? '';
  if (value === '') return undefined;
  // The start of the program added what the environment lacked.
  return { value, from: value === inEnvFile(name) ? 'file' : 'environment' };
};

const inEnvFile = (name: string): string | undefined => {
  try {
    return parseEnv(envFileText('.'))[name]?.trim();
  } catch {
    return undefined;
  }
};

/** The server of a command, the key for it, and where both come from. */
export interface Chosen extends Server {
  readonly profile: string | null;
  /** Workspace of the profile. */
  readonly workspaceId: string | null;
  /** Server that `./.env` names, elsewhere and not confirmed for this folder. */
  readonly unconfirmed: string | null;
}

/**
 * Chooses by docs/reference/command-line.md#server. A key goes to an address from the same place, or to the one that
 * `--url` names, except that of a profile, which goes to its own origin only. Throws CommandFailure.
 */
export const chooseServer = (
  given: Given,
  { profile, url: named }: Pick<Globals, 'profile' | 'url'>,
  { profiles, current, folders }: Profiles,
  folder = process.cwd(),
): Chosen => {
  const key = given('SLUICE_API_KEY');
  const name = profile ?? (key === undefined ? (given('SLUICE_PROFILE')?.value ?? current) : null);
  if (name !== null) {
    const kept = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (kept !== undefined) return ofProfile(name, kept, named);
    if (profile !== undefined || current !== name) throw noProfile(name, Object.keys(profiles));
  }
  const address = given('SLUICE_URL');
  const chosen = key === undefined || address?.from === key.from ? address : undefined;
  const url = addressIn(named ?? chosen?.value ?? LOCAL);
  if (key === undefined) throw noKey(url);
  const isElsewhere = named === undefined && chosen?.from === 'file' && !LOOPBACK.test(url.hostname);
  const isConfirmed = !isElsewhere || (Object.hasOwn(folders, folder) && folders[folder] === url.origin);
  const unconfirmed = isConfirmed ? null : url.origin;
  return { url: plain(url), apiKey: key.value, profile: null, workspaceId: null, unconfirmed };
};

const ofProfile = (profile: string, kept: Profiles['profiles'][string], named: string | undefined): Chosen => {
  const own = addressIn(kept.url);
  const url = named === undefined ? own : addressIn(named);
  if (url.origin !== own.origin)
    throw new CommandFailure({
      exit: 2,
      code: 'usage',
      message: `the key of profile ${profile} is for ${own.origin}, not for ${url.origin}: log in there first`,
      next: `sluice login --url ${url.origin}`,
    });
  const { apiKey, workspaceId } = kept;
  return { url: plain(url), apiKey, profile, workspaceId, unconfirmed: null };
};

export const notConfirmed = (origin: string): CommandFailure =>
  wrongUsage(`./.env names the server ${origin}: add --url ${origin} to use it`);

export const noProfile = (name: string, others: readonly string[]): CommandFailure =>
  new CommandFailure({
    exit: 2,
    code: 'usage',
    message: `no profile is called ${JSON.stringify(name.slice(0, 100))}${others.length === 0 ? '' : ` (there are ${others.join(', ')})`}`,
    next: `sluice login -p ${name}`,
  });

const noKey = ({ origin }: URL): CommandFailure =>
  new CommandFailure({
    exit: 3,
    code: 'no_key',
    message: `no API key for ${origin}. Run "sluice login", or set SLUICE_API_KEY.`,
    next: 'sluice login',
  });

const plain = (url: URL): string => url.href.replace(/\/$/, '');

export const addressIn = (text: string): URL => {
  if (!URL.canParse(text)) throw notAnAddress(text);
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw notAnAddress(text);
  return url;
};

const notAnAddress = (text: string): CommandFailure =>
  wrongUsage(`the address of the server must be like ${LOCAL}; got ${JSON.stringify(text.slice(0, 100))}`);
