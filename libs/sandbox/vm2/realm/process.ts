import { now } from './bridge-end.js';
import { type RealmSettings } from './settings.js';

/** A plain object of the realm's own: what components read of `process`, nothing that acts. */
export const processOf = ({ sourceId, platform, version }: RealmSettings): object => ({
  env: { PD_COMPONENT: sourceId },
  argv: [],
  platform,
  version,
  versions: { node: version.slice(1) },
  cwd: () => '/tmp',
  uptime: () => now() / 1000,
  nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args)),
});
