import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { map, type Observable } from 'rxjs';
import { BYTES_IN_FLIGHT, type ByteHolders, type BytesInFlight, holdersOf, type HttpBytes } from './bytes-in-flight.js';
import { OPERATION, type OperationInfo } from './operation.js';
import { rawChars, streamedJson } from './raw-json.js';
import { callerIfAny } from './request-state.js';

/** Size that a read counts with before its size is known. */
const USUAL_BYTES = 256 * 1024;
/** Routes of users whose last answer was larger. */
const MAX_REMEMBERED = 1_000;

/**
 * Writes replies, and counts their bytes for the caller until they are sent. Before it is read, a page of whole events
 * counts with its limit, and any other read with the size of the caller's previous one. Replies with raw JSON are
 * written at the pace of the client. Must be the outermost interceptor, so that the fields are already selected.
 */
@Injectable()
export class AnswerInterceptor implements NestInterceptor {
  private readonly last = new Map<string, number>();

  constructor(@Inject(BYTES_IN_FLIGHT) private readonly bytes: HttpBytes) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const caller = callerIfAny(request);
    // Public answers are small, or encoded once.
    if (!caller) return next.handle();
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const route = `${caller.userId} ${context.getClass().name}.${context.getHandler().name}`;
    const answer = new HeldAnswer(this.bytes.answers, holdersOf(caller), response);
    if (isRead) answer.resize(this.expected(request, context.getHandler(), route));
    return next.handle().pipe(
      map((reply: unknown) => {
        const { body, bytes } = written(reply, response);
        this.remember(route, bytes);
        // The change is made, so its answer must not be a refusal.
        answer.resize(bytes, !isRead);
        return body;
      }),
    );
  }

  private expected(request: Request, handler: object, route: string): number {
    const isWhole = (Reflect.getMetadata(OPERATION, handler) as OperationInfo | undefined)?.whole === true;
    if (isWhole || asksWhole(request.query) || asksWhole(request.body)) return this.bytes.pageBytes;
    return this.last.get(route) ?? USUAL_BYTES;
  }

  private remember(route: string, bytes: number): void {
    this.last.delete(route);
    if (bytes <= USUAL_BYTES) return;
    this.last.set(route, bytes);
    const [oldest] = this.last.keys();
    if (this.last.size > MAX_REMEMBERED && oldest !== undefined) this.last.delete(oldest);
  }
}

const asksWhole = (parameters: unknown): boolean =>
  typeof parameters === 'object' && parameters !== null && 'expand' in parameters && parameters.expand === 'event';

/** The reply for Nest to send, and its size. A route that wrote its own answer has none. */
const written = (reply: unknown, response: Response): { readonly body: unknown; readonly bytes: number } => {
  if (typeof reply === 'string') return { body: reply, bytes: reply.length };
  if (typeof reply !== 'object' || reply === null || response.headersSent) return { body: reply, bytes: 0 };
  const raw = rawChars(reply);
  if (raw !== undefined) return { body: streamedJson(reply), bytes: raw };
  const text = JSON.stringify(reply);
  if (response.get('Content-Type') === undefined) response.type('json');
  return { body: text, bytes: text.length };
};

/** Bytes that one answer holds until its response is closed. */
class HeldAnswer {
  private held = 0;
  private isOver: boolean;

  constructor(
    private readonly answers: BytesInFlight,
    private readonly holders: ByteHolders,
    response: Response,
  ) {
    this.isOver = response.closed;
    response.once('close', () => {
      this.isOver = true;
      answers.release(holders, this.held);
      this.held = 0;
    });
  }

  /** Throws request.too_much_in_flight where the bytes do not fit, unless they are held in any case. */
  resize(bytes: number, inAnyCase = false): void {
    if (this.isOver) return;
    const more = bytes - this.held;
    if (more <= 0 || inAnyCase) this.answers.hold(this.holders, more);
    else {
      const refused = this.answers.tryHold(this.holders, more);
      if (refused) throw refused;
    }
    this.held = bytes;
  }
}
