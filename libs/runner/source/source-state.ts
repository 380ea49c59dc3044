import { dictionary } from '#libs/kernel/dictionary.js';
import { type DedupeCache } from '../outcome/dedupe-cache.js';

/** State of a source from run to run, besides its place in the lane. */
export interface SourceState {
  readonly dedupe: Readonly<Record<string, DedupeCache>>;
  /** Content of `$.service.db`, JSON text by key. */
  readonly db: Readonly<Record<string, string>>;
  /** Text of the counts of its last hours (stream-log/hour-counts.ts). Undefined before the first. */
  readonly counts?: string | undefined;
}

export interface SourceChanges {
  /** Changed caches by channel; null for a forgotten one. */
  readonly dedupe: Readonly<Record<string, DedupeCache | null>>;
  readonly db: Readonly<Record<string, string | null>>;
}

const DEDUPE = 'dedupe/';
const DB = 'db/';

/** Returns the changes as parts of the source's stored state. */
export const partsOf = ({ dedupe, db }: SourceChanges): Readonly<Record<string, string | null>> => {
  const parts: Record<string, string | null> = {};
  for (const [channel, cache] of Object.entries(dedupe))
    parts[DEDUPE + channel] = cache === null ? null : JSON.stringify(cache);
  for (const [key, text] of Object.entries(db)) parts[DB + key] = text;
  return parts;
};

export const sourceStateOf = (parts: Readonly<Record<string, string>>): SourceState => {
  const dedupe = dictionary<DedupeCache>();
  const db = dictionary<string>();
  for (const [name, text] of Object.entries(parts)) {
    if (name.startsWith(DB)) db[name.slice(DB.length)] = text;
    else if (name.startsWith(DEDUPE)) dedupe[name.slice(DEDUPE.length)] = JSON.parse(text) as DedupeCache;
  }
  return { dedupe, db };
};
