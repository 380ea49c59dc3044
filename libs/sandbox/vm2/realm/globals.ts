/** Replaces what vm2 offers by proxy, and adds what components expect of Node. Imported first. */
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

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask } = timers;
const offered = {
  ...{ AbortController, AbortSignal, Buffer, Event, EventTarget, Headers, Response, TextDecoder, TextEncoder },
  ...{ URL, URLSearchParams, atob, btoa, fetch, crypto: webcrypto },
  ...{ setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask },
  performance: { now: () => now(), timeOrigin: Date.now() - now() },
};
for (const [name, value] of Object.entries(offered)) define(name, value);
