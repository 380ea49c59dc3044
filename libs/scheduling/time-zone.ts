import { BoundedMap, bytesOfText } from '#libs/kernel/bounded-map.js';

const known = new BoundedMap<string, string>(256 * 1024, (name) => 2 * bytesOfText(name));

/**
 * The one spelling of a zone. A name may be written in any case, and each spelling that reached a cache of formats would
 * keep one of tens of kilobytes. Throws RangeError for a name that is none.
 */
export const canonicalZone = (name: string): string => {
  let zone = known.get(name);
  if (zone === undefined) {
    zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    known.set(name, zone);
  }
  return zone;
};
