import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { TokenBuckets } from '#libs/http/token-buckets.js';
import { HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
import { callerIfAny } from './request-state.js';

/** Limits the requests per minute of each user over all keys, with a token bucket. 0 turns the limit off. */
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
    const { allowed, tokens, waitSeconds } = this.buckets.consume(caller.userId, now);

    const msPerToken = 60_000 / requestsPerMinute;
    const response = context.switchToHttp().getResponse<Response>();
    response.setHeader('X-RateLimit-Limit', String(requestsPerMinute));
    response.setHeader('X-RateLimit-Remaining', String(Math.floor(tokens)));
    // Time in epoch seconds at which the bucket is full again.
    response.setHeader('X-RateLimit-Reset', String(Math.ceil((now + (burst - tokens) * msPerToken) / 1000)));
    if (allowed) return true;

    throw new DomainError(
      'request.rate_limited',
      `more than ${requestsPerMinute} requests a minute (burst ${burst}) of one user: wait ${waitSeconds} s`,
      { limit: requestsPerMinute, burst, retry_after: waitSeconds },
    );
  }
}
