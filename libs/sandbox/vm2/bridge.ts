/**
 * Host functions that the realm may call. They are the only ways out of it. Every argument and result is a string or a
 * number, because the host accepts nothing else (main.ts). No function throws. Bytes cross as latin1 text.
 */
export interface Bridge {
  /** Sends a ChildMessage with its raw part to the host. */
  readonly say: (json: string, raw: string) => void;
  /** Sends the last message of run `n`. */
  readonly done: (n: number, json: string) => void;
  readonly flush: () => void;
  /** JSON of the bundle's source map, or "". */
  readonly sourceMap: () => string;
  /** Number of the run now executing, or -1. */
  readonly current: () => number;
  /** Milliseconds since the process started. */
  readonly now: () => number;
  /** Calls `fire(id)` after `ms`, repeatedly when `every` is 1. A negative `ms` means after the current turn. */
  readonly setTimer: (id: number, ms: number, every: number) => void;
  readonly clearTimer: (id: number) => void;
  readonly randomBytes: (count: number) => string;
  /** Computes a digest, or an HMAC when `keyed` is 1. Returns "" for an unknown algorithm. */
  readonly digest: (algorithm: string, keyed: number, key: string, data: string) => string;
  /** JSON of the parts of `href`, with `part` (if not "") set to `value`. Returns "" for an invalid URL. */
  readonly url: (href: string, base: string, part: string, value: string) => string;
  /** Sends a request, and answers with `answer(id, …)`. `request` is JSON without the body. */
  readonly fetch: (id: number, request: string, body: string) => void;
  readonly abortFetch: (id: number) => void;
}

/** Realm functions that the host calls, with strings, numbers and undefined only. None of them throws or returns a value. */
export interface Realm {
  /** Called before the component is evaluated. `settings` is JSON of RealmSettings. */
  readonly prepare: (settings: string) => void;
  /** The numbers are a BodyRange, where `event` holds its body once. */
  readonly run: (n: number, event: string, start: number | undefined, end: number | undefined) => void;
  readonly hook: (n: number, name: string) => void;
  /** What waits in `$in` from now on. */
  readonly waiting: (count: number, bytes: number) => void;
  /** `call` is JSON of a ComponentCall. */
  readonly ask: (n: number, call: string) => void;
  readonly fire: (timer: number) => void;
  /** Delivers the response of a `fetch`. `head` is JSON of FetchHead. */
  readonly answer: (fetch: number, head: string, body: string) => void;
  /** Delivers the answer of a call to a data store. `code` is empty without an error. */
  readonly stored: (call: number, value: string, code: string, message: string) => void;
  /** Ends run `n`, or all runs for -1, with an uncaught error. */
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
