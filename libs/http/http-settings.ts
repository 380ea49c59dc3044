export const HTTP_SETTINGS = Symbol('HttpSettings');

export interface HttpSettings {
  /** Of one API key; 0: no limit. */
  readonly requestsPerMinute: number;
  readonly burst: number;
}

export const DEFAULT_HTTP_SETTINGS: HttpSettings = { requestsPerMinute: 600, burst: 100 };
