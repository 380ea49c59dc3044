import { type IncomingHttpHeaders } from 'node:http';
import { type Dispatcher } from 'undici';
import { messageOf } from '#libs/kernel/error-message.js';
import { InFlightMap } from '#libs/kernel/in-flight-map.js';
import { type Admitted } from './admission.js';
import { keptHeaders } from './answer-headers.js';
import { type Delivery } from './delivery-records.js';
import { type AttemptOutcome } from './retry-policy.js';
import { signedHeaders } from './signing.js';

export interface AttemptRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly origin: string;
  readonly path: string;
  /** name, value, name, value */
  readonly headers: string[];
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
}

export interface AttemptResult {
  /** Null without an answer; `error` is then set. */
  readonly status: number | null;
  /** `TIMEOUT`, `EGRESS_REFUSED`, or a code of the operating system or the HTTP client. */
  readonly error: string | null;
  readonly message: string;
  readonly retryAfter: string | undefined;
  /** Start of the response body. */
  readonly snippet: string;
  /** Headers of the answer; none without one. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly ms: number;
}

export interface AttemptSettings {
  readonly userAgent: string;
  readonly maxResponseBytes: number;
  readonly snippetBytes: number;
}

/** Error code of a request that was aborted. */
export const ABORTED = 'ABORTED';

/** Error code of a request that could not be built, or was refused by the HTTP client. */
const NOT_SENT = 'NOT_SENT';

const notSent = (error: unknown): AttemptResult => ({
  status: null,
  error: NOT_SENT,
  message: messageOf(error),
  retryAfter: undefined,
  snippet: '',
  ms: 0,
});

/**
 * Error of a dispatcher, with the part of the answer that had arrived by then (ReadAnswer of the guarded dispatcher).
 */
interface DispatchError extends Error {
  readonly code?: string;
  readonly answer?: { readonly status: number; readonly retryAfter: string | undefined; readonly body: Buffer };
}

type Done = (result: AttemptResult) => void;

const SWEEP_MS = 100;

/** Ends requests past their deadline, with one timer for all of them. */
class DeadlineSweep {
  private readonly open = new InFlightMap<number, HttpAttempt>();
  private last = 0;
  private timer: NodeJS.Timeout | undefined;

  /** Returns the number for `remove`. */
  add(attempt: HttpAttempt): number {
    this.open.set(++this.last, attempt);
    this.timer ??= setInterval(() => this.sweep(), SWEEP_MS);
    return this.last;
  }

  remove(number: number): void {
    this.open.delete(number);
  }

  /** Ends all open requests. */
  abort(code: string): void {
    for (const attempt of this.open.values()) attempt.expire(code);
    this.sweep();
  }

  private sweep(): void {
    const now = performance.now();
    for (const attempt of this.open.values()) if (now >= attempt.deadline) attempt.expire('TIMEOUT');
    if (this.open.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }
}

/** Signs deliveries, and sends requests once each through the guarded dispatcher. A redirect is an answer and is not followed. */
export class AttemptSender {
  private readonly sweep = new DeadlineSweep();

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly settings: AttemptSettings,
  ) {}

  /**
   * Calls `done` once, possibly within the call. An answer counts once its status has arrived, whatever happens to its
   * body. Returns a function that aborts the request with ABORTED. Returns undefined when no request could be made,
   * which counts as a failed attempt.
   */
  send(delivery: Delivery, admitted: Admitted, startedAt: number, done: Done): (() => void) | undefined {
    let request: AttemptRequest;
    try {
      request = this.requestOf(delivery, admitted, startedAt);
    } catch (error) {
      done(notSent(error));
      return undefined;
    }
    return this.request(request, done);
  }

  /** Sends a request that is no delivery of a webhook, as `send` does. */
  request({ timeoutMs, ...request }: AttemptRequest, done: Done): () => void {
    const attempt = new HttpAttempt(this.sweep, this.settings, timeoutMs, done);
    try {
      // DeadlineSweep enforces the time limit.
      this.dispatcher.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, attempt);
    } catch (error) {
      attempt.refused(error);
    }
    return () => attempt.expire(ABORTED);
  }

  /** Ends all open requests with ABORTED. */
  abort(): void {
    this.sweep.abort(ABORTED);
  }

  private requestOf(
    { headers: { id, webhook, emitter, emit, channel, replay }, body: text, attempt }: Delivery,
    { target, origin, prepared: { path, keys } }: Admitted,
    startedAt: number,
  ): AttemptRequest {
    const body = Buffer.from(text);
    const identity = { delivery: id, webhook, emitter, emit, channel, attempt, replay };
    const headers = signedHeaders(keys, identity, startedAt, body);
    headers.push('content-type', 'application/json', 'user-agent', this.settings.userAgent);
    return { method: 'POST', origin, path, headers, body, timeoutMs: target.timeoutMs };
  }
}

export const outcomeOf = ({ status, error, retryAfter }: AttemptResult): AttemptOutcome => {
  if (status === null) return { kind: 'error', error: error ?? 'NO_ANSWER' };
  return retryAfter === undefined ? { kind: 'response', status } : { kind: 'response', status, retryAfter };
};

/** Whether the outcome shows a healthy endpoint; undefined when it says nothing about the endpoint. */
export const wellOf = (outcome: AttemptOutcome): boolean | undefined => {
  if (outcome.kind === 'response') return outcome.status < 500 && ![408, 425, 429].includes(outcome.status);
  return [ABORTED, NOT_SENT, 'EGRESS_REFUSED', 'INVALID_URL'].includes(outcome.error) ? undefined : false;
};

class HttpAttempt implements Dispatcher.DispatchHandler {
  readonly deadline: number;
  private readonly startedAt = performance.now();
  private readonly number: number;
  private controller: Dispatcher.DispatchController | undefined;
  private over = false;
  private status: number | null = null;
  private retryAfter: string | undefined;
  private headers: IncomingHttpHeaders | undefined;
  private chunks: Buffer[] | undefined;
  private kept = 0;
  private size = 0;

  constructor(
    private readonly sweep: DeadlineSweep,
    private readonly settings: AttemptSettings,
    timeoutMs: number,
    private readonly done: Done,
  ) {
    this.deadline = this.startedAt + timeoutMs;
    this.number = sweep.add(this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline passed while the request waited for a connection.
    if (this.over) controller.abort(new Error('out of time'));
    else this.controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    const retryAfter = headers['retry-after'];
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.size += chunk.length;
    const room = this.settings.snippetBytes - this.kept;
    if (room > 0) {
      // Copies the chunk, which is a view into the parser's memory.
      (this.chunks ??= []).push(Buffer.from(chunk.subarray(0, room)));
      this.kept += Math.min(room, chunk.length);
    }
    if (this.size > this.settings.maxResponseBytes) this.expire('RESPONSE_TOO_LARGE');
  }

  onResponseEnd(): void {
    this.finish(null, '');
  }

  onResponseError(_: Dispatcher.DispatchController, error: DispatchError): void {
    if (this.status === null && error.answer !== undefined) this.readBeside(error.answer);
    if (error.code === 'UND_ERR_INVALID_ARG') this.refused(error);
    else this.finish(error.code ?? error.name, error.message);
  }

  /** An answer that the HTTP client rejects still counts as an answer, and must not lead to a repeat. */
  private readBeside({ status, retryAfter, body }: NonNullable<DispatchError['answer']>): void {
    this.status = status;
    this.retryAfter = retryAfter;
    this.chunks = [body.subarray(0, this.settings.snippetBytes)];
  }

  refused(error: unknown): void {
    this.finish(NOT_SENT, messageOf(error));
  }

  expire(code: string): void {
    this.finish(code, code);
    this.controller?.abort(new Error(code));
  }

  private finish(error: string | null, message: string): void {
    if (this.over) return;
    this.over = true;
    this.sweep.remove(this.number);
    const answered = this.status !== null;
    this.done({
      status: this.status,
      error: answered ? null : (error ?? 'NO_ANSWER'),
      message: answered ? '' : message,
      retryAfter: this.retryAfter,
      headers: this.headers && keptHeaders(this.headers),
      snippet: this.chunks === undefined ? '' : Buffer.concat(this.chunks).toString('utf8'),
      ms: performance.now() - this.startedAt,
    });
  }
}
