import { createHash } from 'node:crypto';
import {
  Inject,
  Injectable,
  Logger,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { type Request, type Response } from 'express';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { IDEMPOTENCY_RECORDS, type IdempotencyRecords } from './idempotency-records.js';
import { IdempotentRequests, type KeptAnswer } from './idempotent-requests.js';
import { jsonParts } from './raw-json.js';
import { OPERATION, type OperationInfo } from './operation.js';
import { type AnySchema } from './reply-schema.js';
import { callerIfAny, repeatsUnder } from './request-state.js';
import { withoutSecrets } from './without-secrets.js';

const HEADER = 'Idempotency-Key';
const WELL_FORMED = /^[\x21-\x7e]{1,255}$/;
/** Answers a POST that repeats an Idempotency-Key with the reply to the first (docs/reference/rest-api.md#idempotency-key). */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly logger = new Logger('http');
  private readonly requests: IdempotentRequests;

  constructor(@Inject(IDEMPOTENCY_RECORDS) records: IdempotencyRecords, @Inject(CLOCK) clock: Clock) {
    const onLost = (err: unknown): void => this.logger.error({ msg: 'a reply could not be kept for its repeat', err });
    this.requests = new IdempotentRequests(records, clock, onLost);
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const key = request.headers[HEADER.toLowerCase()];
    const userId = callerIfAny(request)?.userId;
    if (request.method !== 'POST' || key === undefined || userId === undefined) return next.handle();
    if (typeof key !== 'string' || !WELL_FORMED.test(key)) throw malformed(String(key));
    const route = `${context.getClass().name}.${context.getHandler().name}`;
    const asked = { userId, id: hashed([route, key]), fingerprint: fingerprintOf(request) };
    repeatsUnder(request, () => this.requests.repeatId(asked));
    const run = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    const response = http.getResponse<Response>();
    const described = Reflect.getMetadata(OPERATION, context.getHandler()) as OperationInfo | undefined;
    const keptOf = (answer: unknown): KeptAnswer | null => {
      const body = bodyOf(described?.reply, answer);
      return body === null ? null : { status: response.statusCode, body };
    };
    const outcome = await this.requests.once(asked, run, keptOf);
    if ('answer' in outcome) return of(outcome.answer);
    const { status, body } = outcome.replayed;
    response.status(status).setHeader('Idempotency-Replayed', 'true');
    return of(body === '' ? undefined : (JSON.parse(body) as unknown));
  }
}

/**
 * Null for an answer that is not JSON, and for one without a schema, because only a schema shows which fields are
 * secret.
 */
const bodyOf = (reply: AnySchema | undefined, answer: unknown): string | null => {
  if (answer === undefined) return '';
  if (answer instanceof StreamableFile || reply === undefined) return null;
  return [...jsonParts(withoutSecrets(reply, answer))].join('');
};

/** Everything that decides what the request does. */
const fingerprintOf = (request: Request): string =>
  hashed([request.method, request.url, JSON.stringify(request.body ?? null)]);

const hashed = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

const malformed = (given: string): DomainError =>
  new DomainError(
    'request.invalid_parameter',
    `header ${HEADER} must be 1 to 255 visible ASCII characters; it has ${given.length}`,
    { field: HEADER, limit: 255, actual: given.length },
  );
