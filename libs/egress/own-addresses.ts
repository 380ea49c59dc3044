import { networkInterfaces } from 'node:os';

/** Cache time. Interfaces change while the server runs, and listing them takes longer the more there are. */
const KEPT_MS = 1_000;

let asked: readonly string[] = [];
let askedAt = -Infinity;

/** Addresses of this machine's interfaces, including public ones, because a service there may trust local clients. */
export const ownAddresses = (): readonly string[] => {
  const now = performance.now();
  if (now - askedAt >= KEPT_MS) {
    asked = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    askedAt = now;
  }
  return asked;
};
