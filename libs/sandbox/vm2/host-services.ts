import { createHash, createHmac, randomBytes } from 'node:crypto';
import { messageOf } from '../../kernel/error-message.js';
import { type Bridge, type FetchHead, type FetchRequest, type Realm, URL_PARTS } from './bridge.js';

const MAX_RANDOM = 1024 * 1024;

export const randomText = (count: number): string =>
  count >= 0 && count <= MAX_RANDOM ? randomBytes(Math.floor(count)).toString('latin1') : '';

export const digestText: Bridge['digest'] = (algorithm, keyed, key, data) => {
  try {
    const hash = keyed === 1 ? createHmac(algorithm, Buffer.from(key, 'latin1')) : createHash(algorithm);
    return hash.update(Buffer.from(data, 'latin1')).digest().toString('latin1');
  } catch {
    // The algorithm is unknown. The realm reports it.
    return '';
  }
};

export const urlText: Bridge['url'] = (href, base, part, value) => {
  try {
    const url = base === '' ? new URL(href) : new URL(href, base);
    const settable = URL_PARTS.find((name) => name === part);
    if (settable !== undefined && settable !== 'origin') url[settable] = value;
    return JSON.stringify(Object.fromEntries(URL_PARTS.map((name) => [name, url[name]])));
  } catch {
    // The URL is invalid. The realm reports it.
    return '';
  }
};

/** Timers and requests of the realm, by the realm's ids. */
export class HostServices {
  private readonly timers = new Map<number, NodeJS.Timeout | NodeJS.Immediate>();
  private readonly requests = new Map<number, AbortController>();

  constructor(private readonly realm: () => Realm) {}

  readonly setTimer = (id: number, ms: number, every: number): void => {
    this.clearTimer(id);
    const fire = (): void => {
      if (every !== 1) this.timers.delete(id);
      this.realm().fire(id);
    };
    this.timers.set(id, ms < 0 ? setImmediate(fire) : every === 1 ? setInterval(fire, ms) : setTimeout(fire, ms));
  };

  readonly clearTimer = (id: number): void => {
    const timer = this.timers.get(id);
    this.timers.delete(id);
    if (timer instanceof setImmediateClass) clearImmediate(timer);
    else clearTimeout(timer);
  };

  readonly fetch = (id: number, request: string, body: string): void => {
    const controller = new AbortController();
    this.requests.set(id, controller);
    void this.request(id, request, body, controller.signal);
  };

  readonly abortFetch = (id: number): void => this.requests.get(id)?.abort();

  private async request(id: number, text: string, body: string, signal: AbortSignal): Promise<void> {
    let head: FetchHead;
    let content = '';
    try {
      const { url, method, headers, redirect, hasBody } = JSON.parse(text) as FetchRequest;
      const response = await fetch(url, {
        method,
        headers: headers.map(([name, value]): [string, string] => [name, value]),
        redirect,
        signal,
        ...(hasBody ? { body: Buffer.from(body, 'latin1') } : {}),
      });
      content = Buffer.from(await response.arrayBuffer()).toString('latin1');
      const { status, statusText, redirected } = response;
      head = { status, statusText, redirected, url: response.url, headers: [...response.headers.entries()] };
    } catch (error) {
      head = failure(error);
    }
    this.requests.delete(id);
    this.realm().answer(id, JSON.stringify(head), content);
  }
}

const setImmediateClass = (() => {
  const one = setImmediate(() => undefined);
  clearImmediate(one);
  return one.constructor as new () => NodeJS.Immediate;
})();

const failure = (error: unknown): FetchHead => {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  return {
    error: messageOf(error),
    code: typeof code === 'string' ? code : '',
    cause: cause instanceof Error ? cause.message : '',
  };
};
