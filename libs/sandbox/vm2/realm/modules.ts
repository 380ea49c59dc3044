import { Buffer } from './buffer.js';
import * as crypto from './crypto.js';
import { format, inspect } from './inspect.js';
import * as timers from './timers.js';
import { URL, URLSearchParams } from './url.js';

type Callback = (error: unknown, value?: unknown) => void;

const promisify =
  (fn: (...args: unknown[]) => void) =>
  (...args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason is the component's
      const done: Callback = (error, value) => (error ? reject(error) : resolve(value));
      fn(...args, done);
    });

const inherits = (child: { prototype: object }, parent: { prototype: object }): void =>
  void Object.setPrototypeOf(child.prototype, parent.prototype);

const MODULES: Readonly<Record<string, () => unknown>> = {
  buffer: () => ({ Buffer }),
  console: () => console,
  crypto: () => crypto,
  process: () => process,
  timers: () => timers,
  'timers/promises': () => timers.promises,
  url: () => ({ URL, URLSearchParams }),
  util: () => ({ format, inspect, promisify, inherits, TextEncoder, TextDecoder }),
};

/** Returns the realm's own copy of a module. Throws for any other module. */
export const requireModule = (name: unknown): unknown => {
  const plain = String(name).replace(/^node:/, '');
  if (Object.hasOwn(MODULES, plain)) return MODULES[plain]?.();
  throw new Error(
    `the component needs the module "${String(name)}", which is not offered with SLUICE_ISOLATION=vm2 ` +
      `(there are ${Object.keys(MODULES).join(', ')}): run it with SLUICE_ISOLATION=auto`,
  );
};
