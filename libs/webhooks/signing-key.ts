import { randomBytes } from 'node:crypto';

/** Makes a key as in Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const newSigningKey = (): string => `whsec_${randomBytes(32).toString('base64')}`;
