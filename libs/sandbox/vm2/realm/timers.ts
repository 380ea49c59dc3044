import { clearTimer, setTimer } from './bridge-end.js';

type Callback = (...args: unknown[]) => void;

const callbacks = new Map<number, () => void>();
let last = 0;
let report = (_thrown: unknown): void => undefined;

export const onTimerError = (handler: (thrown: unknown) => void): void => {
  report = handler;
};

class Timer {
  constructor(
    readonly id: number,
    private readonly ms: number,
    private readonly every: number,
  ) {}
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return callbacks.has(this.id);
  }
  refresh(): this {
    if (callbacks.has(this.id)) setTimer(this.id, this.ms, this.every);
    return this;
  }
  close(): this {
    clear(this);
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.id;
  }
}

const start = (name: string, callback: unknown, delay: number, every: number, args: unknown[]): Timer => {
  if (typeof callback !== 'function') throw new TypeError(`${name}: the callback must be a function`);
  const timer = new Timer(++last, delay, every);
  callbacks.set(timer.id, () => {
    if (every === 0) callbacks.delete(timer.id);
    (callback as Callback)(...args);
  });
  setTimer(timer.id, delay, every);
  return timer;
};

const clear = (timer: unknown): void => {
  const id = timer instanceof Timer ? timer.id : Number(timer);
  if (callbacks.delete(id)) clearTimer(id);
};

/** Called by the host. */
export const fire = (id: number): void => {
  try {
    callbacks.get(id)?.();
  } catch (thrown) {
    report(thrown);
  }
};

const delayOf = (ms: unknown): number => {
  const delay = Number(ms);
  return delay >= 1 && delay <= 2 ** 31 - 1 ? delay : 1;
};

export const setTimeout = (callback: unknown, ms?: unknown, ...args: unknown[]): Timer =>
  start('setTimeout', callback, delayOf(ms), 0, args);
export const setInterval = (callback: unknown, ms?: unknown, ...args: unknown[]): Timer =>
  start('setInterval', callback, delayOf(ms), 1, args);
export const setImmediate = (callback: unknown, ...args: unknown[]): Timer =>
  start('setImmediate', callback, -1, 0, args);
export const clearTimeout = clear;
export const clearInterval = clear;
export const clearImmediate = clear;

export const queueMicrotask = (callback: unknown): void => {
  if (typeof callback !== 'function') throw new TypeError('queueMicrotask: the callback must be a function');
  void Promise.resolve().then(() => {
    try {
      (callback as Callback)();
    } catch (thrown) {
      report(thrown);
    }
  });
};

/** node:timers/promises */
export const promises = {
  setTimeout: (ms?: unknown, value?: unknown): Promise<unknown> =>
    new Promise((resolve) => setTimeout(() => resolve(value), ms)),
  setImmediate: (value?: unknown): Promise<unknown> => new Promise((resolve) => setImmediate(() => resolve(value))),
};
