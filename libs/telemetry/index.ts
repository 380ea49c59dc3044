export { httpObserver } from './http-observer.js';
export { createLogger, LOGGER, NestLogger, type Log, type Logger, type LoggerOptions } from './logger.js';
export { METRICS, Metrics, type Sample } from './metrics.js';
export { READINESS, Readiness, type Check, type ReadinessReport } from './readiness.js';
export { TelemetryModule } from './telemetry.module.js';
export { unitOfWork, type UnitOfWork } from './unit-of-work.js';
