import { named, seconds, text } from '#libs/http/reply-schema.js';

/** API key as in docs/reference/rest-api.md#api-key-fields. */
export const ApiKey = named('ApiKey', { id: text('`key_…`'), name: text(), created_at: seconds() });

/** API key in the reply of its creation. */
export const IssuedApiKey = named('IssuedApiKey', { ...ApiKey.fields, key: text('Shown in this reply only') });
