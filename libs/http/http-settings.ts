import { TrustedProxies } from './client-address.js';

export const HTTP_SETTINGS = Symbol('HttpSettings');

export interface HttpSettings {
  /** Limit of each user; 0 means no limit. */
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** Trusted proxies, which decide the address that wrong keys are counted for. */
  readonly proxies: TrustedProxies;
}

export const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  requestsPerMinute: 600,
  burst: 100,
  proxies: new TrustedProxies(),
};
