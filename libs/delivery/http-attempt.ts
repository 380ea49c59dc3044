import { type IncomingHttpHeaders } from 'node:http';
import { type Dispatcher } from 'undici';
import { messageOf } from '#libs/kernel/error-message.js';
import { InFlightMap } from '#libs/kernel/in-flight-map.js';

export interface AttemptRequest {
  readonly origin: string;
  readonly path: string;
  /** name, value, name, value */
  readonly headers: string[];
  readonly body: Uint8Array;
  readonly timeoutMs: number;
}

export interface AttemptResult {
  /** null without an answer; then `error` is set. */
  readonly status: number | null;
  /** `TIMEOUT`, `EGRESS_REFUSED`, or the code of the system or the HTTP client. */
  readonly error: string | null;
  readonly message: string;
  readonly retryAfter: string | undefined;
  /** Start of the response body. */
  readonly snippet: string;
  readonly ms: number;
}

export interface ResponseLimits {
  readonly maxResponseBytes: number;
  readonly snippetBytes: number;
}

/** Error code of a request that was aborted. */
export const ABORTED = 'ABORTED';

/** Error code of a request that could not be built, or that the HTTP client refused. */
export const NOT_SENT = 'NOT_SENT';

export const notSent = (error: unknown, ms: number): AttemptResult => ({
  status: null,
  error: NOT_SENT,
  message: messageOf(error),
  retryAfter: undefined,
  snippet: '',
  ms,
});

/** Error of a dispatcher, with what the receiver had answered by then (ReadAnswer of the guarded dispatcher). */
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

/** POSTs to endpoints through the guarded dispatcher. A redirect counts as an answer and is not followed. */
export class AttemptSender {
  private readonly sweep = new DeadlineSweep();

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly limits: ResponseLimits,
  ) {}

  /**
   * Calls `done` once. An answer counts once its status has arrived, whatever happens to its body. Returns a function
   * that aborts the request with ABORTED.
   */
  send(request: AttemptRequest, done: Done): () => void {
    const attempt = new HttpAttempt(this.sweep, this.limits, request.timeoutMs, done);
    try {
      this.dispatcher.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: 'POST',
          headers: request.headers,
          body: request.body,
          // DeadlineSweep enforces the time limit.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        attempt,
      );
    } catch (error) {
      attempt.refused(error);
    }
    return () => attempt.expire(ABORTED);
  }

  abort(): void {
    this.sweep.abort(ABORTED);
  }
}

class HttpAttempt implements Dispatcher.DispatchHandler {
  readonly deadline: number;
  private readonly startedAt = performance.now();
  private readonly number: number;
  private controller: Dispatcher.DispatchController | undefined;
  private over = false;
  private status: number | null = null;
  private retryAfter: string | undefined;
  private chunks: Buffer[] | undefined;
  private kept = 0;
  private size = 0;

  constructor(
    private readonly sweep: DeadlineSweep,
    private readonly limits: ResponseLimits,
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
    const retryAfter = headers['retry-after'];
    if (typeof retryAfter === 'string') this.retryAfter = retryAfter;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.size += chunk.length;
    const room = this.limits.snippetBytes - this.kept;
    if (room > 0) {
      // A copy: the chunk is a view into the parser's memory.
      (this.chunks ??= []).push(Buffer.from(chunk.subarray(0, room)));
      this.kept += Math.min(room, chunk.length);
    }
    if (this.size > this.limits.maxResponseBytes) this.expire('RESPONSE_TOO_LARGE');
  }

  onResponseEnd(): void {
    this.finish(null, '');
  }

  onResponseError(_: Dispatcher.DispatchController, error: DispatchError): void {
    if (this.status === null && error.answer !== undefined) this.readBeside(error.answer);
    if (error.code === 'UND_ERR_INVALID_ARG') this.refused(error);
    else this.finish(error.code ?? error.name, error.message);
  }

  /** An answer that the client refuses is one all the same, and must not lead to a repeat. */
  private readBeside({ status, retryAfter, body }: NonNullable<DispatchError['answer']>): void {
    this.status = status;
    this.retryAfter = retryAfter;
    this.chunks = [body.subarray(0, this.limits.snippetBytes)];
  }

  refused(error: unknown): void {
    this.finish(NOT_SENT, messageOf(error));
  }

  /** Ends the request now. */
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
      snippet: this.chunks === undefined ? '' : Buffer.concat(this.chunks).toString('utf8'),
      ms: performance.now() - this.startedAt,
    });
  }
}
