/** 32-bit FNV-1a, stirred: neighbouring names must not weigh alike. */
const weight = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/**
 * Whose a lane is, by rendezvous hash: every member comes to the same answer by itself, for lanes that are new as well,
 * and when members come or go only the lanes move that change their owner. undefined when there are no members.
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
