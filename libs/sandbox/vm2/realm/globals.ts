/** Replaces vm2's proxied globals, and adds the globals of Node that components expect. Must be imported first. */
import { AbortController, AbortSignal } from './abort.js';
import { Buffer } from './buffer.js';
import { webcrypto } from './crypto.js';
import { Event, EventTarget } from './event-target.js';
import { fetch, Headers, Response } from './fetch.js';
import { now } from './bridge-end.js';
import { atob, btoa, TextDecoder, TextEncoder } from './text.js';
import * as timers from './timers.js';
import { URL, URLSearchParams } from './url.js';

export const define = (name: string, value: unknown): void =>
  void Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

for (const name of ['Buffer', 'VMError', 'WebAssembly', 'SharedArrayBuffer', 'Atomics'])
  Reflect.deleteProperty(globalThis, name);

const offered = {
  AbortController,
  AbortSignal,
  Event,
  EventTarget,
  Buffer,
  TextDecoder,
  TextEncoder,
  atob,
  btoa,
  URL,
  URLSearchParams,
  fetch,
  Headers,
  Response,
  crypto: webcrypto,
  setTimeout: timers.setTimeout,
  clearTimeout: timers.clearTimeout,
  setInterval: timers.setInterval,
  clearInterval: timers.clearInterval,
  setImmediate: timers.setImmediate,
  clearImmediate: timers.clearImmediate,
  queueMicrotask: timers.queueMicrotask,
  performance: { now: () => now(), timeOrigin: Date.now() - now() },
};
for (const [name, value] of Object.entries(offered)) define(name, value);
