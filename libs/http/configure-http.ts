import { type ServerResponse } from 'node:http';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type RequestHandler } from 'express';
import { v7 as uuidV7 } from 'uuid';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shownPath } from '#libs/kernel/mask-secrets.js';
import { CALLERS, type Callers } from './callers.js';
import { knownCaller } from './api-key.guard.js';
import { bodyReader, checkFields } from './body.js';
import { BYTES_IN_FLIGHT, holdersOf, type HttpBytes } from './bytes-in-flight.js';
import { countFields } from './form-fields.js';
import { normaliseUrl } from './normalise-url.js';
import { type Release } from './openapi.js';
import { openApiRoute } from './openapi-route.js';
import { routeByCase } from './routes.js';
import { beginRequest, callerIfAny, cameByHostedAddress, requestIdOf } from './request-state.js';

/** Part of the API. Commands are all methods except GET, HEAD and OPTIONS. */
export type HttpHalf = 'everything' | 'commands' | 'queries';

export interface ConfigureHttpOptions {
  /** Largest request body in bytes. */
  readonly maxBodyBytes: number;
  /** Origins that browsers may call from; `*` allows all. Without any, replies have no CORS headers. */
  readonly corsOrigins?: readonly string[];
  /** True once the process was told to stop. Requests are then answered 503. */
  readonly shuttingDown?: () => boolean;
  /** Error when no data can be added now, else undefined. Reads and deletions are still served. */
  readonly noRoom?: () => DomainError | undefined;
  /** Part of the API that this process serves, by default all of it. The rest is answered 421 with the right role. */
  readonly serves?: HttpHalf;
  /** Facts about this server in the description of the API. */
  readonly release?: Release;
  /** Called once for each request, when its answer is sent or the client has disconnected. */
  readonly onFinished?: (request: FinishedRequest) => void;
}

export interface FinishedRequest {
  readonly requestId: string;
  readonly method: string;
  /** Path as logs may show it, without the query and without keys. */
  readonly path: string;
  /** Status of the answer; 499 when the client disconnected before it. */
  readonly status: number;
  readonly ms: number;
  readonly userId?: string;
  readonly apiKeyId?: string;
}

export const REQUEST_ID_HEADER = 'X-Request-Id';
const WELL_FORMED_ID = /^[A-Za-z0-9][A-Za-z0-9._:=+/-]{0,127}$/;
const EXPOSED = [
  REQUEST_ID_HEADER,
  'ETag',
  'X-Sluice-Position',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/**
 * Installs the middleware that every request passes before its route. Call it before `app.init()` or `listen`, on an
 * application made with `bodyParser: false` that provides CALLERS. Install anything that needs the raw request before
 * it, such as the endpoints under /h/.
 */
export const configureHttp = (app: NestExpressApplication, options: ConfigureHttpOptions): void => {
  app.disable('x-powered-by');
  app.disable('etag');
  routeByCase(app);
  app.use(identified);
  if (options.onFinished) app.use(observed(options.onFinished));
  const origins = options.corsOrigins ?? [];
  if (origins.length > 0) {
    app.enableCors({ origin: origins.includes('*') ? '*' : [...origins], exposedHeaders: EXPOSED, maxAge: 600 });
  }
  app.use(normalised);
  if (options.shuttingDown) app.use(refuseWhen(options.shuttingDown));
  if (options.noRoom) app.use(refuseAdditions(options.noRoom));
  if (options.serves !== undefined && options.serves !== 'everything') app.use(refuseOtherHalf(options.serves));
  app.use(openApiRoute(app, options.release));
  const callers = app.get<Callers>(CALLERS);
  const { bodies } = app.get<HttpBytes>(BYTES_IN_FLIGHT);
  // The body of a request without a known key is not read, because the guard refuses that request anyway.
  app.use(
    bodyReader({ maxBytes: options.maxBodyBytes, bodies }, (request) => {
      const caller = knownCaller(request, callers);
      return caller && holdersOf(caller);
    }),
  );
};

const identified: RequestHandler = (request, response, next) => {
  const given = request.headers[REQUEST_ID_HEADER.toLowerCase()];
  const id = typeof given === 'string' && WELL_FORMED_ID.test(given) ? given : uuidV7();
  beginRequest(request, id);
  response.setHeader(REQUEST_ID_HEADER, id);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  next();
};

const observed =
  (onFinished: (request: FinishedRequest) => void): RequestHandler =>
  (request, response, next) => {
    const startedAt = performance.now();
    const path = shownPath(request.originalUrl.split('?', 1)[0] ?? '');
    response.once('close', () => {
      const caller = callerIfAny(request);
      onFinished({
        requestId: requestIdOf(request),
        method: request.method,
        path,
        status: response.writableFinished || isStream(response) ? response.statusCode : 499,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(caller ? { userId: caller.userId, apiKeyId: caller.apiKeyId } : {}),
      });
    });
    next();
  };

/** A stream of events ends when its client leaves, which is not a failure. */
const isStream = (response: ServerResponse): boolean =>
  response.headersSent && response.getHeader('content-type') === 'text/event-stream';

const normalised: RequestHandler = (request, _response, next) => {
  const { url, hosted } = normaliseUrl(request.url);
  request.url = url;
  if (hosted) cameByHostedAddress(request, hosted);
  const mark = request.url.indexOf('?');
  if (mark !== -1) checkFields(countFields(request.url.slice(mark + 1)), 'the query');
  next();
};

/** Paths of the routes about the process rather than its users' resources. */
export const OPERATOR_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

const QUERY_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

const refuseOtherHalf =
  (serves: 'commands' | 'queries'): RequestHandler =>
  (request, _response, next) => {
    const isQuery = QUERY_METHODS.has(request.method);
    // Every other path counts as the API's, so no spelling of a path passes.
    if (OPERATOR_PATHS.has(request.path) || isQuery === (serves === 'queries')) {
      next();
      return;
    }
    const text = isQuery
      ? 'this process takes changes only: reads are answered by query-api'
      : 'this process answers reads only: changes are taken by command-api';
    next(new DomainError('request.misdirected', `${text}; the proxy in front of both must route by method`));
  };

const ADDING_METHODS = new Set(['POST', 'PUT', 'PATCH']);

const refuseAdditions =
  (noRoom: () => DomainError | undefined): RequestHandler =>
  (request, _response, next) => {
    next(ADDING_METHODS.has(request.method) ? noRoom() : undefined);
  };

const refuseWhen =
  (shuttingDown: () => boolean): RequestHandler =>
  (request, response, next) => {
    // A process that shuts down still answers health checks.
    if (!shuttingDown() || OPERATOR_PATHS.has(request.path)) {
      next();
      return;
    }
    response.setHeader('Connection', 'close');
    next(new DomainError('platform.shutting_down', 'the server is shutting down: try again in a few seconds'));
  };
