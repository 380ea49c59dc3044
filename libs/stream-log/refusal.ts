/** A refusal of work for which there is no room now. The sender should retry later. */
export interface Refusal {
  readonly status: 429 | 503;
  /** Public error code. */
  readonly code: string;
  /** Names the limit, the actual value, and what to do. */
  readonly text: string;
  readonly retryAfterS: number;
}
