export interface WebhookTarget {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly active: boolean;
  /** In all: connect, send, answer. */
  readonly timeoutMs: number;
  /** Deliveries in flight at once; the worker's setting when absent. */
  readonly concurrency?: number;
  /** 1 never retries; the worker's list of pauses when absent. */
  readonly maxAttempts?: number;
  /** `whsec_…`, newest first; two during a rotation, none for an unsigned webhook. */
  signingKeys(): readonly string[] | Promise<readonly string[]>;
}

/**
 * What the worker knows of webhooks, from memory. Hand out the same object as long as nothing of it changed: the worker
 * asks for keys once per object. A changed webhook, also one whose old key has run out, is a new object.
 */
export interface WebhookDirectory {
  find(webhookId: string): WebhookTarget | undefined;
}
