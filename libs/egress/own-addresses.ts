import { networkInterfaces } from 'node:os';

/** Interfaces come and go while the server runs, and asking for them takes the longer the more there are. */
const KEPT_MS = 1_000;

let asked: readonly string[] = [];
let askedAt = -Infinity;

/** Addresses of this machine's interfaces, public ones included: what listens on them may trust who comes from here. */
export const ownAddresses = (): readonly string[] => {
  const now = performance.now();
  if (now - askedAt >= KEPT_MS) {
    asked = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    askedAt = now;
  }
  return asked;
};
