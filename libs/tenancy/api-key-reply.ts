import { boolean, listOf, named, nullable, secret, seconds, text, type TypeOf } from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';

/** API key as in docs/reference/rest-api.md#api-key-fields. */
export const ApiKey = named('ApiKey', {
  id: text('`key_…`'),
  name: text('As given'),
  read_only: boolean('Whether the key may not change anything'),
  expires_at: nullable(seconds('Epoch seconds from which the key is refused; null without end')),
  tools: nullable(
    listOf(text(), 'Names of the tools that the key opens, and nothing else; null for a key for everything'),
  ),
  created_at: seconds(),
});

/** API key in the reply of its creation. That to a repeat lacks the key (docs/reference/rest-api.md#idempotency-key). */
export const IssuedApiKey = named('IssuedApiKey', {
  ...ApiKey.fields,
  key: secret(text('Shown in this reply only; absent from the reply to a repeat')),
});

interface Shown {
  readonly id: string;
  readonly name: string;
  /** Epoch ms as a number or as fixed-width text. */
  readonly issuedAt: number | string;
  readonly readOnly?: boolean;
  readonly expiresAt?: number | null;
  readonly tools?: readonly string[] | null;
}

export const apiKeyReply = ({ id, name, issuedAt, readOnly, expiresAt, tools }: Shown): TypeOf<typeof ApiKey> => ({
  id,
  name,
  read_only: readOnly ?? false,
  expires_at: expiresAt === undefined || expiresAt === null ? null : epochSeconds(expiresAt),
  tools: tools ?? null,
  created_at: epochSeconds(Number(issuedAt)),
});
