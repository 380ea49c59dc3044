import { type LoggerService, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { METRICS, type Metrics, READINESS, type Readiness, TelemetryModule } from '#libs/telemetry/index.js';
import { PortsModule } from './api.module.js';

@Module({})
class RoleModule {
  static register(metrics: Metrics, readiness: Readiness): DynamicModule {
    const ports = [
      { provide: METRICS, useValue: metrics },
      { provide: READINESS, useValue: readiness },
    ];
    return { module: RoleModule, imports: [PortsModule.register(ports), TelemetryModule] };
  }
}

/** `/healthz`, `/readyz`, `/metrics` of a process without an API. It does not listen by itself. */
export const createTelemetryApp = async (
  metrics: Metrics,
  readiness: Readiness,
  logger: LoggerService,
): Promise<NestExpressApplication> => {
  const app = await NestFactory.create<NestExpressApplication>(RoleModule.register(metrics, readiness), {
    logger,
    abortOnError: false,
  });
  app.disable('x-powered-by');
  await app.init();
  return app;
};
