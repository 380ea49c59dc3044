import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import { type Response } from 'express';
import { OpenToAll } from '#libs/http/access.js';
import { Operation } from '#libs/http/operation.js';
import { METRICS, Metrics } from './metrics.js';
import { READINESS, Readiness, type ReadinessReport } from './readiness.js';

/** For whoever runs the process; without API key. */
@Controller()
@OpenToAll()
export class HealthController {
  constructor(
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(METRICS) private readonly metrics: Metrics,
  ) {}

  /** The process answers. */
  @Get('healthz')
  @Operation({ summary: 'Whether the process answers' })
  alive(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when it can do its work, else 503 with the checks that fail. */
  @Get('readyz')
  @Operation({ summary: 'Whether the process can do its work; 503 names what fails' })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessReport> {
    const report = await this.readiness.report();
    if (report.status === 'not_ready') response.status(503).setHeader('Retry-After', '1');
    return report;
  }

  @Get('metrics')
  @Operation({ summary: 'Metrics in Prometheus text format' })
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  text(): Promise<string> {
    return this.metrics.text();
  }
}
