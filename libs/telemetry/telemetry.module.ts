import { Module, type DynamicModule } from '@nestjs/common';
import { OPERATOR_ACCESS, type OperatorAccess } from '#libs/http/operator-access.js';
import { HealthController } from './health.controller.js';
import { METRICS, type Metrics } from './metrics.js';
import { READINESS, type Readiness } from './readiness.js';

export interface TelemetryPorts {
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly access: OperatorAccess;
}

/** Serves `/healthz`, `/readyz` and `/metrics`. */
@Module({ controllers: [HealthController] })
export class TelemetryModule {
  static forRoot(ports: TelemetryPorts): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [
        { provide: METRICS, useValue: ports.metrics },
        { provide: READINESS, useValue: ports.readiness },
        { provide: OPERATOR_ACCESS, useValue: ports.access },
      ],
    };
  }
}
