import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';

/** `/healthz`, `/readyz`, `/metrics`. Needs, from a global module: READINESS, METRICS. */
@Module({ controllers: [HealthController] })
export class TelemetryModule {}
