export { httpObserver } from './http-observer.js';
export { createLogger, LOGGER, NestLogger, type Log, type Logger, type LoggerOptions } from './logger.js';
export { Metrics, type Sample } from './metrics.js';
export { Readiness, type Check, type ReadinessReport } from './readiness.js';
export { type ServerFacts } from './server.controller.js';
export { streamObserver } from './stream-observer.js';
export { TelemetryModule, type TelemetryPorts } from './telemetry.module.js';
export { unitOfWork, type UnitOfWork } from './unit-of-work.js';
