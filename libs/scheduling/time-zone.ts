import { BoundedMap, bytesOfText } from '#libs/kernel/bounded-map.js';

const known = new BoundedMap<string, string>(256 * 1024, (name) => 2 * bytesOfText(name));

/**
 * Returns the canonical spelling of a zone. Users may write a name in any case, and a cache of formats would keep tens
 * of kilobytes for each spelling. Throws RangeError for an unknown name.
 */
export const canonicalZone = (name: string): string => {
  let zone = known.get(name);
  if (zone === undefined) {
    zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    known.set(name, zone);
  }
  return zone;
};
