import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { apiKey, apiKeyNotFound, hashOfKey, type KeyLimits } from './domain/api-key.js';
import { type KeyRegister, type RegisteredKey } from './key-register.js';
import { byOperator } from './operator.js';
import { newApiKey } from './set-up-user/set-up-user.js';

/** API keys that the operator issues and revokes for any user. Their actor is the operator. */
export interface OperatorKeys {
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
  readonly register: KeyRegister;
}

export interface NewKey {
  readonly keyId: string;
  /** Show it to the user, then call `handedOver`. Only its hash is stored. */
  readonly secret: string;
  readonly handedOver: () => Promise<void>;
}

/** Issues a key without a limit on the user's keys, because a user who lost many keys also needs one. */
export const issueKeyFor = async (
  { handleCommand, clock, register }: OperatorKeys,
  userId: string,
  name: string,
  limits: KeyLimits = {},
): Promise<NewKey> => {
  const now = clock.now();
  const keyId = newId('key', now);
  const secret = newApiKey();
  const workspaceId = register.workspaceOf(userId);
  const keyHash = hashOfKey(secret);
  const issue = { type: 'issue', keyId, userId, name, keyHash, limits, handedOver: false, now } as const;
  await handleCommand(apiKey, keyId, issue, byOperator(workspaceId));
  const handedOver = async (): Promise<void> => {
    await handleCommand(apiKey, keyId, { type: 'hand_over', now: clock.now() }, byOperator(workspaceId));
  };
  return { keyId, secret, handedOver };
};

/** Resolves with the key as it was before. A repeat changes nothing. Throws api_key.not_found. */
export const revokeKeyOf = async (
  { handleCommand, clock, register }: OperatorKeys,
  keyId: string,
): Promise<RegisteredKey> => {
  const key = register.key(keyId);
  if (!key) throw apiKeyNotFound(keyId);
  const { userId } = key;
  const revoke = { type: 'revoke', keyId, userId, now: clock.now() } as const;
  await handleCommand(apiKey, keyId, revoke, byOperator(register.workspaceOf(userId)));
  return key;
};
