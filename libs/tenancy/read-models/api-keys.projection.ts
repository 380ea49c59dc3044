import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type ApiKeyEvent } from '../published.js';

/** A key that is not revoked. */
export interface ApiKeyDoc extends Doc {
  readonly userId: string;
  readonly name: string;
  readonly readOnly: boolean;
  /** Epoch milliseconds; null for a key without end. */
  readonly expiresAt: number | null;
  /** Epoch milliseconds in fixed width. */
  readonly issuedAt: string;
}

export const apiKeysProjection: Projection<ApiKeyDoc> = {
  name: 'tenancy.api_keys.v2',
  schema: {
    name: 'tenancy.api_keys.v2',
    indexed: ['userId'],
    sort: 'issuedAt',
    counted: [['userId']],
  },
  keys: ({ type, stream }) => (type === 'ApiKeyIssued' || type === 'ApiKeyRevoked' ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & ApiKeyEvent;
    switch (event.type) {
      case 'ApiKeyIssued': {
        const { userId, name, readOnly = false, expiresAt = null, issuedAt } = event.data;
        return { id, userId, name, readOnly, expiresAt, issuedAt: String(issuedAt).padStart(15, '0') };
      }
      case 'ApiKeyRevoked':
        return undefined;
      default:
        return doc;
    }
  },
};
