import { Module, type DynamicModule } from '@nestjs/common';
import { OPERATOR_ACCESS, type OperatorAccess } from '#libs/http/operator-access.js';
import { HealthController } from './health.controller.js';
import { METRICS, type Metrics } from './metrics.js';
import { READINESS, type Readiness } from './readiness.js';
import { SERVER_FACTS, ServerController, type ServerFacts } from './server.controller.js';

export interface TelemetryPorts {
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly access: OperatorAccess;
  /** For a process with an API. */
  readonly server?: ServerFacts;
}

/** Serves `/healthz`, `/readyz` and `/metrics`, and `/v1/server` beside an API. */
@Module({ controllers: [HealthController] })
export class TelemetryModule {
  static forRoot(ports: TelemetryPorts): DynamicModule {
    return {
      module: TelemetryModule,
      controllers: ports.server === undefined ? [] : [ServerController],
      providers: [
        { provide: SERVER_FACTS, useValue: ports.server },
        { provide: METRICS, useValue: ports.metrics },
        { provide: READINESS, useValue: ports.readiness },
        { provide: OPERATOR_ACCESS, useValue: ports.access },
      ],
    };
  }
}
