import { type LoggerService } from '@nestjs/common';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { ErrorFilter } from '#libs/http/error-filter.js';
import { routeByCase } from '#libs/http/routes.js';
import { TelemetryModule, type TelemetryPorts } from '#libs/telemetry/index.js';

export interface TelemetryAppOptions extends TelemetryPorts {
  readonly logger: LoggerService;
}

/**
 * Creates the app with `/healthz`, `/readyz` and `/metrics` for a process without an API. The caller makes it listen.
 */
export const createTelemetryApp = async (options: TelemetryAppOptions): Promise<NestExpressApplication> => {
  const app = await NestFactory.create<NestExpressApplication>(TelemetryModule.forRoot(options), {
    logger: options.logger,
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ErrorFilter(app.get(HttpAdapterHost), () => undefined));
  app.disable('x-powered-by');
  routeByCase(app);
  await app.init();
  return app;
};
