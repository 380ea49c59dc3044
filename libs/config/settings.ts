import { engines } from './engine-settings.js';
import { events, webhooks } from './event-settings.js';
import { limits } from './limit-settings.js';
import { builds, runs } from './run-settings.js';
import { server } from './server-settings.js';
import { type Setting } from './setting.js';

/** Every setting, in the order of the reference. */
export const SETTINGS = { ...server, ...limits, ...runs, ...builds, ...events, ...webhooks, ...engines } as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The settings of one process, checked. */
export type Config = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
