import { randomBytes } from 'node:crypto';
import { type Clock } from '#libs/kernel/clock.js';
import { type Position } from '#libs/kernel/events.js';
import { type CommandContext, type HandleCommand } from '#libs/kernel/handle-command.js';
import { newCommandId, newId } from '#libs/kernel/ids.js';
import { apiKey, firstKeyId, givenKeyId, hashOfKey } from '../domain/api-key.js';
import { type CallersView } from '../callers-view.js';
import { emailIdOf, emailTaken, nameIdOf, nameTaken, plainEmail, user } from '../domain/user.js';
import { workspace } from '../domain/workspace.js';

export interface SetUpUser {
  readonly username: string;
  readonly email: string;
  /** Display name of the workspace made for the user. */
  readonly workspaceName: string;
  /** The user's first key; generated when absent. */
  readonly givenKey?: string;
}

export type FirstKey =
  /** Show `secret` to the user, then call `handedOver`. Otherwise the next set-up replaces the key. */
  | { readonly status: 'made'; readonly secret: string; readonly handedOver: () => Promise<void> }
  /** The given key is valid. */
  | { readonly status: 'given' }
  /** The given key was revoked before and stays revoked, because that was deliberate. */
  | { readonly status: 'given_but_revoked' }
  /** The user already has a valid key. */
  | { readonly status: 'existing' };

export interface SetUpResult {
  readonly userId: string;
  readonly workspaceId: string;
  readonly key: FirstKey;
  /** Position of the last event written; undefined when everything existed already. */
  readonly position?: Position;
}

export interface SetUpDependencies {
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
  /** Must have caught up with the log. */
  readonly callers: Pick<CallersView, 'usableKeys' | 'usernamesOf'>;
  /** Actor of the events; the user who is set up when absent. */
  readonly actor?: string;
}

/** `sk_` and 40 hexadecimal digits: 160 random bits. */
export const newApiKey = (): string => `sk_${randomBytes(20).toString('hex')}`;

/**
 * Makes a user, their workspace and their first API key. The ids are random, so they cannot be derived from the name.
 * The stream of the name keeps them, so a repeat after a crash continues where the first attempt stopped. Set up a user
 * once at a time. Throws user.already_exists when a user with another address has the name, or another user the address.
 */
export const setUpUser = async (deps: SetUpDependencies, request: SetUpUser): Promise<SetUpResult> => {
  const { username, email, workspaceName, givenKey } = request;
  const now = deps.clock.now();
  checkLeavesOwner(request);

  // 1. Reserve the name with the ids, and the address. An address that is taken must not use up the name.
  const [holder = username] = deps.callers.usernamesOf(email).filter((name) => !isSameName(name, username));
  if (!isSameName(holder, username)) throw emailTaken(email, holder);
  const { userId, workspaceId } = await reserveName(deps, request, now);
  const reserve = { type: 'reserve_email', userId, username, email, now } as const;
  await deps.handleCommand(user, emailIdOf(email), reserve, by(deps.actor ?? userId, workspaceId));

  // 2. Register the user.
  const register = { type: 'register', userId, username, email, now } as const;
  const registered = await deps.handleCommand(user, userId, register, by(deps.actor ?? userId, workspaceId));

  // 3. Create their workspace.
  const create = { type: 'create', workspaceId, orgname: username.toLowerCase(), name: workspaceName, email } as const;
  const created = await deps.handleCommand(
    workspace,
    workspaceId,
    { ...create, ownerId: userId, now },
    by(deps.actor ?? userId, workspaceId),
  );

  // 4. Issue their key.
  const owner = { userId, workspaceId };
  const { key, position } =
    givenKey === undefined ? await firstKey(deps, owner) : await issueGiven(deps, owner, givenKey);
  const last = position ?? created.position ?? registered.position;
  return { ...owner, key, ...(last === undefined ? {} : { position: last }) };
};

/** The first user, which the first start of a server makes. */
export const OWNER = { username: 'owner', email: 'owner@localhost' } as const;

/** Throws user.already_exists for the owner's name or address alone. A server could never make its owner beside such a user. */
const checkLeavesOwner = ({ username, email }: SetUpUser): void => {
  const hasName = isSameName(username, OWNER.username);
  const hasEmail = plainEmail(email) === OWNER.email;
  if (hasEmail && !hasName) throw emailTaken(email, OWNER.username);
  if (hasName && !hasEmail) throw nameTaken(username);
};

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const reserveName = async (deps: SetUpDependencies, request: SetUpUser, now: number): Promise<Owner> => {
  const { username, email } = request;
  const drawn = { userId: newId('u', now), workspaceId: newId('o', now) };
  const reserve = { type: 'reserve_name', username, email, now, ...drawn } as const;
  const { state } = await deps.handleCommand(
    user,
    nameIdOf(username),
    reserve,
    by(deps.actor ?? drawn.userId, drawn.workspaceId),
  );
  if (!state?.reserved) throw new Error(`the stream of the name ${username} holds no reservation`);
  return state.reserved;
};

interface Owner {
  readonly userId: string;
  readonly workspaceId: string;
}
interface Keyed {
  readonly key: FirstKey;
  readonly position: Position | undefined;
}

/** Issues the given key. A key from an earlier SLUICE_API_KEY stays valid until it is revoked. */
const issueGiven = async (deps: SetUpDependencies, { userId, workspaceId }: Owner, given: string): Promise<Keyed> => {
  const keyHash = hashOfKey(given);
  const keyId = givenKeyId(keyHash);
  const name = 'given at start';
  const now = deps.clock.now();
  const issue = { type: 'issue', keyId, userId, name, keyHash, handedOver: true, now } as const;
  const { state, position } = await deps.handleCommand(apiKey, keyId, issue, by(deps.actor ?? userId, workspaceId));
  return { key: { status: state?.revoked === true ? 'given_but_revoked' : 'given' }, position };
};

/**
 * Issues a key to a user without a valid one. A key is lost when the process died before it showed the key. A lost key
 * is revoked and replaced.
 */
const firstKey = async (deps: SetUpDependencies, { userId, workspaceId }: Owner): Promise<Keyed> => {
  const { handleCommand, clock } = deps;
  if (deps.callers.usableKeys(userId) > 0) return { key: { status: 'existing' }, position: undefined };
  for (let n = 1; ; n++) {
    const keyId = firstKeyId(userId, n);
    const secret = newApiKey();
    const keyHash = hashOfKey(secret);
    const issue = {
      type: 'issue',
      keyId,
      userId,
      name: 'first key',
      keyHash,
      handedOver: false,
      now: clock.now(),
    } as const;
    const { state, position } = await handleCommand(apiKey, keyId, issue, by(deps.actor ?? userId, workspaceId));
    if (state?.keyHash === keyHash) {
      const handedOver = async (): Promise<void> => {
        await handleCommand(
          apiKey,
          keyId,
          { type: 'hand_over', now: clock.now() },
          by(deps.actor ?? userId, workspaceId),
        );
      };
      return { key: { status: 'made', secret, handedOver }, position };
    }
    if (state?.handedOver === true && !state.revoked) return { key: { status: 'existing' }, position: undefined };
    const revoke = { type: 'revoke', keyId, userId, now: clock.now() } as const;
    await handleCommand(apiKey, keyId, revoke, by(deps.actor ?? userId, workspaceId));
  }
};

/** The system acts on behalf of a user, or the operator acts, and no API key is involved. */
export const by = (userId: string, workspaceId: string): CommandContext => {
  const commandId = newCommandId();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: { userId, apiKeyId: null },
    workspaceId,
  };
};
