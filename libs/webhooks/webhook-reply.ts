import { epochSeconds } from '#libs/kernel/clock.js';

interface Shown {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  readonly active: boolean;
  /** Epoch ms as a number or as fixed-width text. */
  readonly createdAt: number | string;
  readonly updatedAt: number;
  readonly disabledReason?: string | null;
}

/** Webhook as in docs/reference/rest-api.md#webhook-fields. Only the create reply adds `user_id` and `signing_key`. */
export const webhookReply = (webhook: Shown) => ({
  id: webhook.id,
  name: webhook.name,
  description: webhook.description,
  url: webhook.url,
  active: webhook.active,
  disabled_reason: webhook.disabledReason ?? null,
  signing_key_set: true,
  created_at: epochSeconds(Number(webhook.createdAt)),
  updated_at: epochSeconds(webhook.updatedAt),
});

export type WebhookReply = ReturnType<typeof webhookReply>;
