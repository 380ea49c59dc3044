/** Events of webhooks, for other contexts and the roles. */

/** Rules of one webhook that replace the server's settings. */
export interface WebhookRules {
  /** Seconds within which the endpoint must answer; null for the server's setting. */
  readonly timeoutS: number | null;
  /** Attempts of a delivery; null for 10. */
  readonly maxAttempts: number | null;
  /** Whether an event waits until those before it have ended, retries included. */
  readonly ordered: boolean;
}
export const DEFAULT_RULES: WebhookRules = { timeoutS: null, maxAttempts: null, ordered: false };

export interface WebhookCreated {
  readonly type: 'WebhookCreated';
  readonly data: {
    readonly webhookId: string;
    readonly userId: string;
    readonly name: string | null;
    readonly description: string | null;
    readonly url: string;
    /** Vault reference of the signing key, which is `whsec_…` in plain text. */
    readonly signingKeyRef: string;
    readonly rules: WebhookRules;
    readonly createdAt: number;
  };
}
export interface WebhookUpdated {
  readonly type: 'WebhookUpdated';
  readonly data: {
    readonly name: string | null;
    readonly description: string | null;
    readonly url: string;
    readonly active: boolean;
    readonly rules: WebhookRules;
    readonly updatedAt: number;
  };
}
/** The platform stopped delivering because the endpoint answered 410 or failed for too long. */
export interface WebhookDisabled {
  readonly type: 'WebhookDisabled';
  readonly data: { readonly reason: string; readonly disabledAt: number };
}
/** The former key stays valid until `formerValidUntil`. */
export interface WebhookSigningKeyRegenerated {
  readonly type: 'WebhookSigningKeyRegenerated';
  readonly data: {
    readonly signingKeyRef: string;
    readonly formerKeyRef: string;
    readonly formerValidUntil: number;
    readonly regeneratedAt: number;
  };
}
export interface WebhookDeleted {
  readonly type: 'WebhookDeleted';
  readonly data: { readonly deletedAt: number };
}
export type WebhookEvent =
  WebhookCreated | WebhookUpdated | WebhookDisabled | WebhookSigningKeyRegenerated | WebhookDeleted;
