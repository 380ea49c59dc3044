import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { TokenBuckets } from './token-buckets.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
import { callerIfAny } from './request-state.js';

/** Limits the requests per minute of each user over all keys, with a token bucket. 0 means no limit. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  private readonly buckets: TokenBuckets;

  constructor(
    @Inject(HTTP_SETTINGS) private readonly settings: HttpSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.buckets = new TokenBuckets(settings.requestsPerMinute / 60, settings.burst);
  }

  canActivate(context: ExecutionContext): boolean {
    const { requestsPerMinute, burst } = this.settings;
    const caller = callerIfAny(context.switchToHttp().getRequest<Request>());
    if (requestsPerMinute === 0 || !caller) return true;

    const now = this.clock.now();
    const consumption = this.buckets.consume(caller.userId, now);
    const headers = rateLimitHeaders({ perSecond: requestsPerMinute / 60, burst }, consumption, now);
    context
      .switchToHttp()
      .getResponse<Response>()
      .setHeaders(new Map(Object.entries(headers)));
    if (consumption.allowed) return true;

    const { waitSeconds } = consumption;
    throw new DomainError(
      'request.rate_limited',
      `more than ${requestsPerMinute} requests a minute of one user, over all keys (${burst} at once): ` +
        `wait ${waitSeconds} s. SLUICE_API_RATE sets this limit`,
      { limit: burst, per_minute: requestsPerMinute, retry_after: waitSeconds, setting: 'SLUICE_API_RATE' },
    );
  }
}
