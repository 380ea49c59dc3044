import { type LoggerService, Module, type DynamicModule } from '@nestjs/common';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { ErrorFilter } from '#libs/http/error-filter.js';
import { OPERATOR_ACCESS, type OperatorAccess } from '#libs/http/operator-access.js';
import { METRICS, type Metrics, READINESS, type Readiness, TelemetryModule } from '#libs/telemetry/index.js';
import { PortsModule } from './ports.module.js';

export interface TelemetryAppOptions {
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly access: OperatorAccess;
  readonly logger: LoggerService;
}

@Module({})
class RoleModule {
  static register({ metrics, readiness, access }: TelemetryAppOptions): DynamicModule {
    const ports = [
      { provide: METRICS, useValue: metrics },
      { provide: READINESS, useValue: readiness },
      { provide: OPERATOR_ACCESS, useValue: access },
    ];
    return { module: RoleModule, imports: [PortsModule.register(ports), TelemetryModule] };
  }
}

/**
 * Creates the app with `/healthz`, `/readyz` and `/metrics` for a process without an API. It does not listen by itself.
 */
export const createTelemetryApp = async (options: TelemetryAppOptions): Promise<NestExpressApplication> => {
  const app = await NestFactory.create<NestExpressApplication>(RoleModule.register(options), {
    logger: options.logger,
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ErrorFilter(app.get(HttpAdapterHost)));
  app.disable('x-powered-by');
  await app.init();
  return app;
};
