import { TrustedProxies } from './client-address.js';

export const HTTP_SETTINGS = Symbol('HttpSettings');

export interface HttpSettings {
  /** Of one user; 0: no limit. */
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** Decide whose address wrong keys are counted for. */
  readonly proxies: TrustedProxies;
}

export const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  requestsPerMinute: 600,
  burst: 100,
  proxies: new TrustedProxies(),
};
