import { idOf, type RecordedEvent } from '#libs/kernel/events.js';
import { type Projection } from '#libs/kernel/projection.js';
import { type Doc } from '#libs/kernel/read-model-store.js';
import { type ApiKeyEvent } from '../published.js';

/** A key that is not revoked. */
export interface ApiKeyDoc extends Doc {
  readonly userId: string;
  readonly name: string;
  /** Epoch milliseconds in fixed width. */
  readonly issuedAt: string;
}

export const apiKeysProjection: Projection<ApiKeyDoc> = {
  name: 'tenancy.api_keys.v1',
  schema: { name: 'tenancy.api_keys.v1', indexed: ['userId'], sort: 'issuedAt' },
  keys: ({ type, stream }) => (type === 'ApiKeyIssued' || type === 'ApiKeyRevoked' ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & ApiKeyEvent;
    switch (event.type) {
      case 'ApiKeyIssued': {
        const { userId, name, issuedAt } = event.data;
        return { id, userId, name, issuedAt: String(issuedAt).padStart(15, '0') };
      }
      case 'ApiKeyRevoked':
        return undefined;
      default:
        return doc;
    }
  },
};
