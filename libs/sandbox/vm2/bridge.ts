/**
 * The only ways out of the realm. Every argument and result is a string or a number: the host takes nothing else
 * (main.ts), and no function here throws. Bytes cross as latin1 text.
 */
export interface Bridge {
  /** A ChildMessage for the host, with its raw part. */
  readonly say: (json: string, raw: string) => void;
  /** The last message of run `n`. */
  readonly done: (n: number, json: string) => void;
  readonly flush: () => void;
  /** The run that the code now executing belongs to; -1 for none. */
  readonly current: () => number;
  /** Milliseconds since the process began. */
  readonly now: () => number;
  /** Calls `fire(id)` after `ms`, again and again when `every` is 1. Negative `ms`: after the current turn. */
  readonly setTimer: (id: number, ms: number, every: number) => void;
  readonly clearTimer: (id: number) => void;
  readonly randomBytes: (count: number) => string;
  /** The digest; "" for an algorithm that there is not. HMAC when `keyed` is 1. */
  readonly digest: (algorithm: string, keyed: number, key: string, data: string) => string;
  /** JSON of the parts of `href`, with `part` (if not "") set to `value`; "" when it cannot be read as a URL. */
  readonly url: (href: string, base: string, part: string, value: string) => string;
  /** Answered by `answer(id, …)`. `request` is JSON without the body. */
  readonly fetch: (id: number, request: string, body: string) => void;
  readonly abortFetch: (id: number) => void;
}

/** What the host calls in the realm, with strings and numbers. None of it throws or returns anything. */
export interface Realm {
  /** Before the component is evaluated. `settings` is JSON of RealmSettings. */
  readonly prepare: (settings: string) => void;
  readonly run: (n: number, event: string) => void;
  readonly hook: (n: number, name: string) => void;
  readonly fire: (timer: number) => void;
  /** `head` is JSON of FetchHead. */
  readonly answer: (fetch: number, head: string, body: string) => void;
  /** Ends run `n` (all runs: -1) with an error that nothing caught. */
  readonly fail: (n: number, name: string, message: string) => void;
}

export interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly hasBody: boolean;
}

export type FetchHead =
  | {
      readonly status: number;
      readonly statusText: string;
      readonly url: string;
      readonly redirected: boolean;
      readonly headers: readonly (readonly [string, string])[];
    }
  | { readonly error: string; readonly code: string; readonly cause: string };

export const URL_PARTS = [
  ...['href', 'origin', 'protocol', 'username', 'password', 'host'],
  ...['hostname', 'port', 'pathname', 'search', 'hash'],
] as const;
