/** An answer to work that there is no room for now. It tells the sender to retry later. */
export interface Refusal {
  readonly status: 429 | 503;
  /** Public error code. */
  readonly code: string;
  /** Names the limit, the actual value, and what to do. */
  readonly text: string;
  readonly retryAfterS: number;
}
