import { TrustedProxies } from './client-address.js';

export const HTTP_SETTINGS = Symbol('HttpSettings');

export interface HttpSettings {
  /** Limit of each user; 0 means no limit. */
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** Trusted proxies, which decide the address that wrong keys are counted for. */
  readonly proxies: TrustedProxies;
  /** Time in milliseconds that a command's answer, or a query with a position, waits for the read models. */
  readonly appliedTimeoutMs: number;
  /** Whether a command succeeds after that time although the read models lag behind; else it fails. */
  readonly answersUnapplied: boolean;
}

export const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  requestsPerMinute: 600,
  burst: 100,
  proxies: new TrustedProxies(),
  appliedTimeoutMs: 2000,
  answersUnapplied: false,
};
