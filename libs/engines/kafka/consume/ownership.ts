const FNV_START = 0x811c9dc5;

/** 32-bit FNV-1a of a text, continuing from the hash `from` of the text before it. */
const fnv = (text: string, from: number): number => {
  let hash = from;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
};

/** Mixes the bits, so that similar names get different weights. */
const mixed = (fnvHash: number): number => {
  let hash = fnvHash;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/**
 * Picks a lane's owner by rendezvous hashing; undefined when there are no members. Every member computes the same owner
 * on its own, for new lanes too. A membership change moves only the lanes whose owner changes.
 */
export const ownerOf = (lane: string, members: readonly string[]): string | undefined => {
  const ofLane = fnv(`${lane}|`, FNV_START);
  let owner: string | undefined;
  let heaviest = -1;
  for (const member of members) {
    const own = mixed(fnv(member, ofLane));
    if (own < heaviest || (own === heaviest && owner !== undefined && member > owner)) continue;
    heaviest = own;
    owner = member;
  }
  return owner;
};
