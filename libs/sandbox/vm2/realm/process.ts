import { now } from './bridge-end.js';
import { type RealmSettings } from './settings.js';

/** Plain object of the realm with the parts of `process` that components read. It cannot act on the process. */
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
