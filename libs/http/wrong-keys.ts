import { type IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { TokenBuckets } from './token-buckets.js';
import { limitKeyOf } from './client-address.js';
import { HTTP_SETTINGS, type HttpSettings } from './http-settings.js';

/** Wrong keys allowed in a burst, then one per SECONDS_EACH. More than typing errors, far fewer than guessing needs. */
const WRONG_KEYS_AT_ONCE = 50;
const SECONDS_EACH = 3;

/**
 * Counts wrong API keys by client address. A right key is never refused, because many clients may share an address, and
 * one that guesses would otherwise lock out all others.
 */
@Injectable()
export class WrongKeys {
  private readonly buckets = new TokenBuckets(1 / SECONDS_EACH, WRONG_KEYS_AT_ONCE);

  constructor(
    @Inject(HTTP_SETTINGS) private readonly settings: HttpSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Throws request.rate_limited beyond the limit. */
  count(request: IncomingMessage): void {
    const { address } = this.settings.proxies.clientOf(request);
    const { allowed, waitSeconds } = this.buckets.consume(limitKeyOf(address), this.clock.now());
    if (allowed) return;
    throw new DomainError(
      'request.rate_limited',
      `more than ${WRONG_KEYS_AT_ONCE} wrong API keys from this address: wait ${waitSeconds} s, or send a right one`,
      { limit: WRONG_KEYS_AT_ONCE, retry_after: waitSeconds },
    );
  }
}
