import { isInherited } from '#libs/hosting/heap-flag.js';
import { CommandFailure } from './failure.js';

export interface Server {
  readonly url: string;
  readonly apiKey: string;
}

const LOCAL = 'http://127.0.0.1:3000';
const LOOPBACK = /^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]|localhost)$/;

/** Where a variable was given. `./.env` may belong to whoever wrote the folder. */
export type Given = (name: string) => { readonly value: string; readonly from: 'environment' | 'file' } | undefined;

export const givenHere: Given = (name) => {
  const value = process.env[name]?.trim() ?? '';
  return value === '' ? undefined : { value, from: isInherited(name) ? 'environment' : 'file' };
};

/**
 * The server of a command, and the key for it (docs/reference/workflows.md#files-server). A key of the environment never
 * goes to an address that `./.env` names. Throws CommandFailure.
 */
export const serverOf = (given: Given, named: string | undefined): Server => {
  const key = given('SLUICE_API_KEY');
  const address = given('SLUICE_URL');
  const chosen = key === undefined || address?.from === key.from ? address : undefined;
  const text = named ?? chosen?.value ?? LOCAL;
  const url = addressIn(text);
  if (named === undefined && chosen?.from === 'file' && !LOOPBACK.test(url.hostname))
    throw usage(`./.env names the server ${url.origin}: add --url ${url.origin} to use it`);
  if (key !== undefined) return { url: url.href.replace(/\/$/, ''), apiKey: key.value };
  throw new CommandFailure({
    exit: 3,
    code: 'no_key',
    message: `no API key for ${url.origin}. Set SLUICE_API_KEY.`,
  });
};

const addressIn = (text: string): URL => {
  if (!URL.canParse(text)) throw notAnAddress(text);
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw notAnAddress(text);
  return url;
};

const notAnAddress = (text: string): CommandFailure =>
  usage(`the address of the server must be like ${LOCAL}; got ${JSON.stringify(text.slice(0, 100))}`);

const usage = (message: string): CommandFailure => new CommandFailure({ exit: 2, code: 'usage', message });
