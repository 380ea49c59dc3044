import {
  boolean,
  integer,
  milliseconds,
  named,
  nullable,
  object,
  oneOf,
  optional,
  secret,
  revisionField,
  seconds,
  text,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type WebhookRules } from './published.js';

interface Shown {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  readonly active: boolean;
  readonly rules: WebhookRules;
  /** Epoch ms as a number or as fixed-width text. */
  readonly createdAt: number | string;
  readonly updatedAt: number;
  readonly disabledReason: string | null;
  readonly revision: number;
}

/** Webhook as in docs/reference/rest-api.md#webhook-fields. */
export const Webhook = named('Webhook', {
  id: text('`wh_…`'),
  name: nullable(text('Name for people')),
  description: nullable(text('Text for people')),
  url: text('Address that gets the events'),
  active: boolean('Whether events are delivered'),
  timeout_s: nullable(integer("Seconds that the endpoint has to answer; null for the server's setting")),
  max_attempts: nullable(integer('Attempts of a delivery; null for 10')),
  ordered: boolean('Whether an event waits until those before it have ended, retries included'),
  disabled_reason: nullable(text('Why the server stopped delivering')),
  revision: revisionField(),
  signing_key_set: oneOf([true], 'Every webhook has a signing key'),
  created_at: seconds(),
  updated_at: seconds(),
});

const Stats = object(
  {
    delivered_24h: integer('Deliveries that succeeded in this hour and the 23 before'),
    failed_24h: integer('Deliveries that were given up in this hour and the 23 before'),
    waiting: integer('Deliveries that are not ended, also those that wait for their next attempt'),
    last_attempt_at: nullable(milliseconds('Epoch milliseconds of the newest attempt; null without one')),
  },
  'Present with `include_stats=true`',
);

/** Webhook in the list of its workspace. */
export const ListedWebhook = named('ListedWebhook', { ...Webhook.fields, stats: optional(Stats) });
export type ListedWebhookReply = TypeOf<typeof ListedWebhook>;

/** Replies to a repeat of an Idempotency-Key lack it (docs/reference/rest-api.md#idempotency-key). */
const signing_key = secret(text('`whsec_…`, shown in this reply only; absent from the reply to a repeat'));

/** Webhook in the reply of its creation. */
export const CreatedWebhook = named('CreatedWebhook', { ...Webhook.fields, user_id: text('`u_…`'), signing_key });

/** Webhook in the reply to a new signing key. */
export const RekeyedWebhook = named('RekeyedWebhook', {
  ...Webhook.fields,
  signing_key,
  former_key_valid_until: seconds('Epoch seconds until which the former key signs too'),
});

export type WebhookReply = TypeOf<typeof Webhook>;

export const webhookReply = (webhook: Shown): WebhookReply => ({
  id: webhook.id,
  name: webhook.name,
  description: webhook.description,
  url: webhook.url,
  active: webhook.active,
  timeout_s: webhook.rules.timeoutS,
  max_attempts: webhook.rules.maxAttempts,
  ordered: webhook.rules.ordered,
  disabled_reason: webhook.disabledReason,
  revision: webhook.revision,
  signing_key_set: true,
  created_at: epochSeconds(Number(webhook.createdAt)),
  updated_at: epochSeconds(webhook.updatedAt),
});
