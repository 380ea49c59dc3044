import { buckets } from './bucket-settings.js';
import { engines } from './engine-settings.js';
import { events, webhooks } from './event-settings.js';
import { limits } from './limit-settings.js';
import { mail } from './mail-settings.js';
import { packages } from './package-settings.js';
import { builds, runs } from './run-settings.js';
import { server } from './server-settings.js';
import { type Setting } from './setting.js';

/** All settings in the order of the reference. */
export const SETTINGS = {
  ...server,
  ...limits,
  ...runs,
  ...builds,
  ...packages,
  ...events,
  ...webhooks,
  ...mail,
  ...buckets,
  ...engines,
} as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** Checked settings of one process. */
export type Config = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
