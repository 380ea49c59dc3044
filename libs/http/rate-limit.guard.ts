import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
import { callerIfAny } from './request-state.js';

interface Bucket {
  tokens: number;
  at: number;
}

/** Requests per minute of each API key, as a token bucket (decisions.md 1.2). 0 turns it off. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  // One entry for each key that was ever used here: bounded by the keys that exist.
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    @Inject(HTTP_SETTINGS) private readonly settings: HttpSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { requestsPerMinute, burst } = this.settings;
    const caller = callerIfAny(context.switchToHttp().getRequest<Request>());
    if (requestsPerMinute === 0 || !caller) return true;

    const now = this.clock.now();
    const bucket = this.refilled(caller.apiKeyId, now);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;

    const msPerToken = 60_000 / requestsPerMinute;
    const response = context.switchToHttp().getResponse<Response>();
    response.setHeader('X-RateLimit-Limit', String(requestsPerMinute));
    response.setHeader('X-RateLimit-Remaining', String(Math.floor(bucket.tokens)));
    // When the whole burst is there again, epoch seconds.
    response.setHeader('X-RateLimit-Reset', String(Math.ceil((now + (burst - bucket.tokens) * msPerToken) / 1000)));
    if (allowed) return true;

    const wait = Math.max(1, Math.ceil(((1 - bucket.tokens) * msPerToken) / 1000));
    throw new DomainError(
      'request.rate_limited',
      `more than ${requestsPerMinute} requests a minute (burst ${burst}) with this API key: wait ${wait} s`,
      { limit: requestsPerMinute, burst, retry_after: wait },
    );
  }

  private refilled(key: string, now: number): Bucket {
    const { requestsPerMinute, burst } = this.settings;
    const bucket = this.buckets.get(key) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) * requestsPerMinute) / 60_000);
    bucket.at = now;
    this.buckets.set(key, bucket);
    return bucket;
  }
}
