import { type FinishedRequest, OPERATOR_PATHS } from '#libs/http/configure-http.js';
import { type Logger } from './logger.js';
import { type Metrics } from './metrics.js';

/** Records one line and one sample for each API request. Routine probes by machines are logged as debug. */
export const httpObserver =
  (logger: Logger, metrics: Metrics): ((request: FinishedRequest) => void) =>
  (request) => {
    metrics.httpRequest(request.method, request.status, request.ms);
    const routine = OPERATOR_PATHS.has(request.path);
    const level = request.status >= 500 ? 'error' : routine ? 'debug' : 'info';
    logger[level](request, 'http.request');
  };
