/**
 * Messages between the server and its fetcher, as records of libs/framing. The fetcher reads answers of registries, so
 * the server checks each of its messages.
 */
import { type LockedPackage } from '#libs/component-model/package-lock.js';
import { type Warning } from '#libs/kernel/warning.js';
import { nestsTooDeep } from '#libs/framing/json-text.js';
import { ProtocolBreach, type RawRecord } from '#libs/framing/records.js';
import { type RegistryRule } from '../registry-rules.js';
import { isPackageName } from '../specifier.js';

/** Package that the code wants, by the name under which it is placed at the root. */
export interface Root {
  readonly alias: string;
  readonly name: string;
  /** Empty for the newest. */
  readonly range: string;
}

export interface ResolveOrder {
  readonly roots: readonly Root[];
  readonly minAgeMs: number;
  readonly deny: readonly string[];
  /** Scopes that the workspace may not use. */
  readonly closedScopes: readonly string[];
  readonly maxPackages: number;
}

export interface FetchOrder {
  readonly name: string;
  readonly version: string;
  readonly resolved: string;
  readonly integrity: string;
  /** File to write, in the folder of the fetcher. */
  readonly file: string;
  readonly maxBytes: number;
}

/** The operator's proxy. `url` may hold credentials. */
export interface ProxyOrder {
  readonly url: string;
  readonly noProxy: readonly string[];
  readonly resolvesNames: boolean;
}

interface ConfigureOrder {
  readonly t: 'configure';
  readonly registries: readonly RegistryRule[];
  readonly proxy: ProxyOrder | null;
  readonly folder: string;
}

export type FetcherOrder =
  | ConfigureOrder
  | { readonly t: 'resolve'; readonly id: number; readonly order: ResolveOrder }
  | { readonly t: 'fetch'; readonly id: number; readonly order: FetchOrder }
  | { readonly t: 'cancel'; readonly id: number };

export interface Resolution {
  readonly packages: readonly LockedPackage[];
  readonly warnings: readonly Warning[];
}

export type FetcherReply =
  | { readonly t: 'resolved'; readonly id: number; readonly resolution: Resolution }
  | { readonly t: 'fetched'; readonly id: number; readonly bytes: number }
  /** `message` is for the author of the component. */
  | { readonly t: 'failed'; readonly id: number; readonly package: string; readonly message: string };

export const MAX_FETCHER_RECORD_BYTES = 4 * 1024 * 1024;
export const MAX_MESSAGE = 1_000;
export const MAX_WARNINGS = 20;
const MAX_PACKAGES = 5_000;
const MAX_URL = 2_048;
const MAX_PLACE = 1_024;
const MAX_LICENCE = 100;
const PLACE = /^node_modules\/(?:@[^/]+\/)?[^/]+(?:\/node_modules\/(?:@[^/]+\/)?[^/]+)*$/;
const VERSION = /^\d+\.\d+\.\d+[0-9a-z.+-]*$/i;
export const INTEGRITY = /^(?:sha1|sha256|sha384|sha512)-[A-Za-z0-9+/]{20,128}={0,2}$/;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** A place of a package below the root. Each part is a name of a package. */
export const isPlace = (place: string): boolean =>
  place.length <= MAX_PLACE &&
  PLACE.test(place) &&
  place
    .split('node_modules/')
    .slice(1)
    .every((part) => isPackageName(part.replace(/\/$/, '')));

/** Returns the package when it has the form of one in a lock, however it came here. */
export const lockedPackageOf = (value: unknown): LockedPackage | undefined => {
  if (!isFields(value)) return undefined;
  const { place, name, version, integrity, resolved, publishedAt, licence } = value;
  if (!isText(place, MAX_PLACE) || !isPlace(place) || !isText(name, 214) || !isPackageName(name)) return undefined;
  if (!isText(version, 256) || !VERSION.test(version) || !isText(integrity, 200) || !INTEGRITY.test(integrity))
    return undefined;
  if (!isText(resolved, MAX_URL) || !(publishedAt === null || isCount(publishedAt))) return undefined;
  if (!(licence === undefined || isText(licence, MAX_LICENCE))) return undefined;
  const locked = { place, name, version, integrity, resolved, publishedAt };
  return licence === undefined ? locked : { ...locked, licence };
};

/** Parses a message of the fetcher. Throws ProtocolBreach for anything else. */
export const parseFetcherReply = ({ json, raw }: RawRecord): FetcherReply => {
  const text = json.toString('utf8');
  let parsed: unknown;
  try {
    parsed = nestsTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const reply = isFields(parsed) && raw.length === 0 ? read(parsed) : undefined;
  if (!reply) throw new ProtocolBreach('the process that fetches packages sent a malformed message');
  return reply;
};

const read = (head: Fields): FetcherReply | undefined => {
  const { t, id, bytes, package: name, message, packages, warnings } = head;
  if (!isCount(id)) return undefined;
  switch (t) {
    case 'fetched':
      return isCount(bytes) ? { t, id, bytes } : undefined;
    case 'failed':
      return isText(name, 300) && isText(message, MAX_MESSAGE) ? { t, id, package: name, message } : undefined;
    case 'resolved': {
      if (!Array.isArray(packages) || packages.length > MAX_PACKAGES) return undefined;
      if (!Array.isArray(warnings) || warnings.length > MAX_WARNINGS) return undefined;
      const locked = packages.map(lockedPackageOf).filter((each) => each !== undefined);
      const read = warnings.filter(isWarning).map(({ code, message, path }) => ({ code, message, path }));
      if (locked.length !== packages.length || read.length !== warnings.length) return undefined;
      return { t, id, resolution: { packages: locked, warnings: read } };
    }
    default:
      return undefined;
  }
};

const isWarning = (value: unknown): value is Warning =>
  isFields(value) && isText(value.code, 64) && isText(value.message, MAX_MESSAGE) && isText(value.path, 300);
