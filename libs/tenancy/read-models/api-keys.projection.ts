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
  /** Null for a key that is not for tools only. */
  readonly tools: readonly string[] | null;
  /** Epoch milliseconds in fixed width. */
  readonly issuedAt: string;
}

const CHANGES: ReadonlySet<string> = new Set<ApiKeyEvent['type']>(['ApiKeyIssued', 'ToolsKeyIssued', 'ApiKeyRevoked']);

export const apiKeysProjection: Projection<ApiKeyDoc> = {
  name: 'tenancy.api_keys.v3',
  schema: {
    name: 'tenancy.api_keys.v3',
    indexed: ['userId'],
    sort: 'issuedAt',
    counted: [['userId']],
  },
  keys: ({ type, stream }) => (CHANGES.has(type) ? [idOf(stream)] : []),
  evolve(doc, recorded, id) {
    const event = recorded as RecordedEvent & ApiKeyEvent;
    switch (event.type) {
      case 'ApiKeyIssued':
      case 'ToolsKeyIssued': {
        const { userId, name, readOnly = false, expiresAt = null, issuedAt } = event.data;
        const tools = event.type === 'ToolsKeyIssued' ? event.data.tools : null;
        return { id, userId, name, readOnly, expiresAt, tools, issuedAt: String(issuedAt).padStart(15, '0') };
      }
      case 'ApiKeyRevoked':
        return undefined;
      default:
        return doc;
    }
  },
};
