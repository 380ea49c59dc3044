import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';

/** Serves `/healthz`, `/readyz` and `/metrics`. Needs READINESS, METRICS and OPERATOR_ACCESS from a global module. */
@Module({ controllers: [HealthController] })
export class TelemetryModule {}
