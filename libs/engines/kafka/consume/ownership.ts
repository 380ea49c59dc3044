/** 32-bit FNV-1a with extra mixing, so that similar names get different weights. */
const weight = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/**
 * Picks a lane's owner by rendezvous hashing; undefined when there are no members. Every member computes the same owner
 * by itself, for new lanes too. A membership change moves only the lanes whose owner changes.
 */
export const ownerOf = (lane: string, members: readonly string[]): string | undefined => {
  let owner: string | undefined;
  let heaviest = -1;
  for (const member of members) {
    const own = weight(`${lane}|${member}`);
    if (own < heaviest || (own === heaviest && owner !== undefined && member > owner)) continue;
    heaviest = own;
    owner = member;
  }
  return owner;
};
