import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { systemContext } from '#libs/kernel/system-context.js';
import { type Vault } from '#libs/kernel/vault.js';
import { RUN_URL_KEY, runUrlKeyDecider } from './domain/run-url-key.js';
import { type RunUrlKeyView } from './run-url-key-view.js';

export interface RunUrlKeyDependencies {
  readonly view: Pick<RunUrlKeyView, 'secretRef'>;
  readonly vault: Vault;
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
}

/** The key belongs to the installation, and to no workspace. */
const NO_WORKSPACE = '';

/**
 * Returns the private key that signs the tokens of run URLs, and makes it on the first start. It is in the vault before
 * the event names it, so a crash between leaves a secret that nothing refers to.
 */
export const privateRunUrlKey = async (deps: RunUrlKeyDependencies): Promise<KeyObject> => {
  const { view, vault } = deps;
  const secretRef = view.secretRef ?? (await made(deps));
  const text = await vault.get(secretRef, NO_WORKSPACE);
  if (text === undefined)
    throw new Error(
      `the vault has no secret ${secretRef}, with which URLs of runs are signed: restore it from a backup`,
    );
  return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
};

/** Returns the place of the key of the first process that made one. */
const made = async ({ vault, handleCommand, clock }: RunUrlKeyDependencies): Promise<string> => {
  const now = clock.now();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  });
  const secretRef = newId('sec', now);
  await vault.put(secretRef, NO_WORKSPACE, privateKey.toString('base64'));
  const created = { secretRef, publicKey: publicKey.toString('base64'), createdAt: now };
  const { state } = await handleCommand(runUrlKeyDecider, RUN_URL_KEY, created, systemContext(NO_WORKSPACE));
  if (state === undefined || state.secretRef === secretRef) return secretRef;
  await vault.delete(secretRef);
  return state.secretRef;
};
