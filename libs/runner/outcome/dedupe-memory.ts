import { hash } from 'node:crypto';
import { type DedupeCache } from './dedupe-cache.js';

/** Limits on the emitted ids that one source remembers, over all of its channels. */
export const DEDUPE_LIMITS = { channels: 256, bytes: 1024 * 1024, idBytes: 128 } as const;

/** Returns the form in which an id is remembered: the id, or its digest when it is long. */
export const rememberedId = (id: string): string =>
  3 * id.length > DEDUPE_LIMITS.idBytes && Buffer.byteLength(id) > DEDUPE_LIMITS.idBytes
    ? `sha256:${hash('sha256', id, 'base64url')}`
    : id;

const sizes = new WeakMap<DedupeCache, number>();

const bytesOf = (cache: DedupeCache): number => {
  let bytes = sizes.get(cache);
  if (bytes === undefined) {
    bytes = Buffer.byteLength(JSON.stringify(cache));
    sizes.set(cache, bytes);
  }
  return bytes;
};

/** Returns the channels to forget, the least recently learned first, so that the rest is within the limits. */
export const channelsToForget = (caches: Readonly<Record<string, DedupeCache>>): readonly string[] => {
  const entries = Object.entries(caches);
  const size = ([channel, cache]: readonly [string, DedupeCache]): number =>
    Buffer.byteLength(channel) + bytesOf(cache);
  let bytes = entries.reduce((sum, entry) => sum + size(entry), 0);
  let channels = entries.length;
  const forgotten: string[] = [];
  for (const entry of entries) {
    if (channels <= DEDUPE_LIMITS.channels && bytes <= DEDUPE_LIMITS.bytes) break;
    forgotten.push(entry[0]);
    channels--;
    bytes -= size(entry);
  }
  return forgotten;
};
