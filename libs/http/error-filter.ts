import {
  Catch,
  HttpException,
  Inject,
  Logger,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Request, type Response } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type EngineUnavailable, type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { UnknownCursor } from '#libs/kernel/read-model-store.js';
import { shownPath } from '#libs/kernel/mask-secrets.js';
import { ERROR_TABLE } from './error-table.js';
import { answerAtLast } from './last-answer.js';
import { encodeCursor } from './pages.js';
import { parameters } from './parameters.js';
import { requestIdOf } from './request-state.js';
import { hintFor } from './no-route.js';
import { methodsOf } from './routes.js';

export const FAULT_OF = Symbol('FaultOf');

/** Error body of docs/reference/errors.md#error-body. */
export interface ErrorBody {
  readonly error: string;
  readonly code: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Turns anything that was thrown into an ErrorBody. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  constructor(
    private readonly adapter: HttpAdapterHost,
    @Inject(FAULT_OF) private readonly faultOf: FaultOf,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    try {
      this.tell(thrown, request, response);
    } catch (error) {
      // Nothing catches an error thrown here, so the request must end here in any case.
      const requestId = requestIdOf(request);
      const body = { code: 'internal_error', error: unexpected(requestId), details: { request_id: requestId } };
      answerAtLast(response, { status: 500, ...body });
      this.logger.error({ msg: 'an error could not be answered', err: error, requestId });
    }
  }

  private tell(thrown: unknown, request: Request, response: Response): void {
    const error = this.asDomainError(thrown, request, response);
    if (response.headersSent) {
      // A stream broke half-way, so the status can no longer be set.
      this.logger.error({ msg: 'request failed after its answer began', err: thrown, requestId: requestIdOf(request) });
      response.destroy();
      return;
    }
    // Drop the content type of the answer that failed.
    response.removeHeader('Content-Type');
    if (error) this.answer(error, response);
    else this.answerUnexpected(thrown, request, response);
  }

  private answer(error: DomainError, response: Response): void {
    const { status, word, retryAfter } = ERROR_TABLE[error.code];
    const asked = error.details?.['retry_after'];
    const wait = typeof asked === 'number' ? asked : retryAfter;
    if (wait !== undefined) response.setHeader('Retry-After', String(wait));
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    response.status(status).json(bodyOf(error, word));
  }

  private answerUnexpected(thrown: unknown, request: Request, response: Response): void {
    const requestId = requestIdOf(request);
    const status = statusOf(thrown);
    if (status !== undefined && status < 500) {
      const error = thrown instanceof Error ? thrown.message : 'bad request';
      response.status(status).json({ error, code: status === 404 ? 'not_found' : 'bad_request' } satisfies ErrorBody);
      return;
    }
    this.logger.error({
      msg: 'unexpected error',
      err: thrown,
      requestId,
      method: request.method,
      path: shownPath(request.path),
    });
    response.status(500).json({
      error: unexpected(requestId),
      code: 'internal_error',
      details: { request_id: requestId },
    } satisfies ErrorBody);
  }

  private asDomainError(thrown: unknown, request: Request, response: Response): DomainError | undefined {
    if (thrown instanceof DomainError) return thrown;
    if (thrown instanceof UnknownCursor) {
      return unknownCursor(thrown.cursor, request);
    }
    if (thrown instanceof RevisionConflict) {
      return new DomainError('request.conflict', `${idOfStream(thrown.stream)} is being changed by others: try again`);
    }
    // Own code throws DomainErrors, so a NotFoundException means that no route matched.
    if (thrown instanceof NotFoundException) return this.noRoute(request, response);
    const fault = statusOf(thrown) === undefined ? this.faultOf(thrown) : undefined;
    if (!fault) return undefined;
    const { engine } = fault;
    this.logger.error({ msg: 'an engine is not available', engine, err: thrown, requestId: requestIdOf(request) });
    return unavailable(fault, request.method);
  }

  private hint(request: Request): string {
    return hintFor(this.adapter, request.method, request.path);
  }

  private noRoute(request: Request, response: Response): DomainError {
    const path = shownPath(request.originalUrl.split('?', 1)[0] ?? '');
    const methods = methodsOf(this.adapter, request.path);
    if (methods.length === 0) {
      return new DomainError(
        'request.route_not_found',
        `there is no route ${request.method} ${path}${this.hint(request)}`,
        {
          method: request.method,
          path,
        },
      );
    }
    response.setHeader('Allow', methods.join(', '));
    return new DomainError(
      'request.method_not_allowed',
      `${path} takes ${methods.join(', ')}, not ${request.method}${this.hint(request)}`,
      {
        method: request.method,
        path,
        allowed: methods,
      },
    );
  }
}

const unavailable = ({ full }: EngineUnavailable, method: string): DomainError => {
  if (full) return new DomainError('platform.storage_full', 'there is no room to store anything: try again later');
  const text = 'what the server stores cannot be reached now: try again in a few seconds';
  const isRead = method === 'GET' || method === 'HEAD';
  return new DomainError(
    'platform.unavailable',
    isRead ? text : `${text}. A change may have been made all the same, so look first`,
  );
};

const unexpected = (requestId: string): string =>
  `unexpected error; the server's log names it under request id ${requestId}`;

/** Names the parameter of an unknown cursor, because the store knows only the id. */
const unknownCursor = (id: string, request: Request): DomainError => {
  const { before } = parameters(request, 'query_wins');
  const isBefore = typeof before === 'string' && [id, encodeCursor(id)].includes(before.split('=', 1)[0] ?? '');
  const field = isBefore ? 'before' : 'after';
  return new DomainError('request.invalid_cursor', `parameter ${field} names no item of this list: ${id}`, {
    field,
    actual: id,
  });
};

const idOfStream = (stream: string): string => stream.slice(stream.indexOf('-') + 1);

const bodyOf = (error: DomainError, word: string): object => {
  if (error.code === 'source.hook_failed') {
    const { observations = [], ...details } = error.details ?? {};
    return {
      error: 'observation error',
      err: null,
      observations,
      code: word,
      details: { ...details, message: error.message },
    };
  }
  if (error.code === 'action.failed') {
    const { os = [], ...details } = error.details ?? {};
    return { error: error.message, code: word, os, details };
  }
  const body: ErrorBody = { error: error.message, code: word };
  return error.details === undefined || Object.keys(error.details).length === 0
    ? body
    : { ...body, details: error.details };
};

/** Status of an HttpException, or of an error made by express or its parsers. */
const statusOf = (thrown: unknown): number | undefined => {
  if (thrown instanceof HttpException) return thrown.getStatus();
  return typeof thrown === 'object' && thrown !== null && 'status' in thrown && typeof thrown.status === 'number'
    ? thrown.status
    : undefined;
};
