import { Controller, Get, Header, Inject, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { OpenToAll } from '#libs/http/access.js';
import { OPERATOR_ACCESS, OperatorAccess } from '#libs/http/operator-access.js';
import { Operation } from '#libs/http/operation.js';
import { ErrorReply } from '#libs/http/replies.js';
import { named, object, oneOf, optional, recordOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { METRICS, Metrics } from './metrics.js';
import { READINESS, Readiness } from './readiness.js';

/** See docs/reference/rest-api.md#readyz. */
const ReadinessReply = named('Readiness', {
  status: oneOf(['ready', 'not_ready'], 'Whether the process takes work'),
  checks: optional(recordOf(text('`ok`, or what is wrong'), 'By name; shown to the operator only')),
});

/** Routes for the operator of the process. They need no API key. */
@Controller()
@OpenToAll()
export class HealthController {
  constructor(
    @Inject(READINESS) private readonly readiness: Readiness,
    @Inject(METRICS) private readonly metrics: Metrics,
    @Inject(OPERATOR_ACCESS) private readonly access: OperatorAccess,
  ) {}

  @Get('healthz')
  @Operation({
    summary: 'Whether the process answers',
    reply: object({ status: oneOf(['ok'], 'The process answers') }),
  })
  alive(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Answers 200 when the process can work, else 503. Only the operator sees the failing checks, which name servers. */
  @Get('readyz')
  @Operation({
    summary: 'Whether the process can do its work; shows the operator its checks',
    reply: ReadinessReply,
    replies: { 503: { description: 'Not ready', schema: ReadinessReply } },
  })
  async ready(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TypeOf<typeof ReadinessReply>> {
    const report = await this.readiness.report();
    if (report.status === 'not_ready') response.status(503).setHeader('Retry-After', '1');
    return this.access.allows(request) ? report : { status: report.status };
  }

  @Get('metrics')
  @Operation({
    summary: 'Metrics in Prometheus text format',
    reply: text(),
    produces: 'text/plain',
    replies: { 403: { description: 'Not the operator', schema: ErrorReply } },
  })
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  text(@Req() request: Request): Promise<string> {
    if (!this.access.allows(request)) {
      throw new DomainError(
        'request.operator_only',
        'metrics are served on a loopback address without a proxy in between: ask there, or set SLUICE_METRICS=open',
      );
    }
    return this.metrics.text();
  }
}
