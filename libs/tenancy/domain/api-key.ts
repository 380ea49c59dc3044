import { createHash } from 'node:crypto';
import { type Decider } from '#libs/kernel/decider.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { derivedId, shownId } from '#libs/kernel/ids.js';
import { type ApiKeyEvent, type ApiKeyIssued, type ToolsKeyIssued } from '../published.js';

/** Limits of a key in comparison with its user. */
export type KeyLimits = Pick<ApiKeyIssued['data'], 'readOnly' | 'expiresAt'> &
  Partial<Pick<ToolsKeyIssued['data'], 'tools'>>;

export type ApiKeyCommand =
  | {
      readonly type: 'issue';
      readonly keyId: string;
      readonly userId: string;
      readonly name: string;
      readonly keyHash: string;
      readonly limits?: KeyLimits;
      /** False only for a key that has not been printed yet. */
      readonly handedOver: boolean;
      readonly now: number;
    }
  | { readonly type: 'hand_over'; readonly now: number }
  | { readonly type: 'revoke'; readonly keyId: string; readonly userId: string; readonly now: number };

export type ApiKeyState = {
  readonly userId: string;
  readonly name: string;
  readonly keyHash: string;
  readonly limits: KeyLimits;
  readonly handedOver: boolean;
  readonly revoked: boolean;
} | null;

export const hashOfKey = (key: string): string => createHash('sha256').update(key, 'utf8').digest('hex');

export const apiKeyNotFound = (keyId: string): DomainError =>
  new DomainError('api_key.not_found', `there is no API key ${shownId(keyId)}`, { id: shownId(keyId) });

/** Id of a key that the operator gave. The same key text always has the same stream. */
export const givenKeyId = (keyHash: string): string => derivedId('key', 'given', keyHash);

/** Id of the n-th attempt at a user's first key. */
export const firstKeyId = (userId: string, n: number): string => derivedId('key', 'first', userId, String(n));

export const apiKey: Decider<ApiKeyCommand, ApiKeyEvent, ApiKeyState> = {
  category: 'apikey',
  initialState: () => null,
  decide(command, state) {
    switch (command.type) {
      case 'issue': {
        if (state) return [];
        const { keyId, userId, name, keyHash, limits: { tools, ...limits } = {}, handedOver, now } = command;
        const data = { keyId, userId, name, keyHash, ...limits, issuedAt: now };
        const issued: ApiKeyEvent = tools
          ? { type: 'ToolsKeyIssued', data: { ...data, tools } }
          : { type: 'ApiKeyIssued', data };
        return handedOver ? [issued, { type: 'ApiKeyHandedOver', data: { handedOverAt: now } }] : [issued];
      }
      case 'hand_over':
        if (!state || state.handedOver || state.revoked) return [];
        return [{ type: 'ApiKeyHandedOver', data: { handedOverAt: command.now } }];
      case 'revoke': {
        const { keyId, userId, now } = command;
        // Another user's key answers like one that does not exist.
        if (state?.userId !== userId) throw apiKeyNotFound(keyId);
        return state.revoked ? [] : [{ type: 'ApiKeyRevoked', data: { revokedAt: now } }];
      }
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case 'ApiKeyIssued':
      case 'ToolsKeyIssued': {
        const { userId, name, keyHash, readOnly, expiresAt } = event.data;
        const limits = {
          ...(readOnly ? { readOnly } : {}),
          ...(expiresAt === undefined ? {} : { expiresAt }),
          ...('tools' in event.data ? { tools: event.data.tools } : {}),
        };
        return { userId, name, keyHash, limits, handedOver: false, revoked: false };
      }
      case 'ApiKeyHandedOver':
        return state && { ...state, handedOver: true };
      case 'ApiKeyRevoked':
        return state && { ...state, revoked: true };
    }
  },
};
