export interface WebhookTarget {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly active: boolean;
  /** Time limit for connecting, sending and the answer together. */
  readonly timeoutMs: number;
  /** Most deliveries in flight at once; the worker's setting when absent. */
  readonly concurrency?: number;
  /** Whether a delivery waits until those before it have ended, retries included. */
  readonly ordered?: boolean;
  /** Most attempts; 1 never retries. The worker's setting when absent. */
  readonly maxAttempts?: number;
  /** `whsec_…`, newest first; two during a rotation, none for an unsigned webhook. */
  signingKeys(): readonly string[] | Promise<readonly string[]>;
}

/**
 * Webhooks as the worker sees them, in memory. Return the same object while a webhook is unchanged, because the worker
 * asks for keys once per object. Return a new object after any change, including the expiry of an old key.
 */
export interface WebhookDirectory {
  find(webhookId: string): WebhookTarget | undefined;
}
