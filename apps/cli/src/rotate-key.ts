import { type Command } from 'commander';
import { type Engines } from '#libs/composition/engines.js';
import { type Config, rotationOf } from '#libs/config/index.js';
import { tell } from './progress.js';
import { assertStopped } from './stopped.js';
import { checkDataDirectory, readConfig, withEngines } from './with-engines.js';

export const registerRotateKey = (program: Command): void => {
  program
    .command('rotate-key')
    .description(
      'Encrypts every secret under a new secret key. All servers must be stopped. With SLUICE_SECRET_KEY: give the new ' +
        'key there and the former as SLUICE_SECRET_KEY_PREVIOUS. Without: a new key is made in <data dir>/secret.key. ' +
        'After an interruption the same command continues.',
    )
    .action(() => rotateSecretKey(readConfig()));
};

/** Steps between which a crash may happen. */
export type RotationStep = 'locked' | 'begun' | 'resealed one' | 'resealed all' | 'verified' | 'finished';

/** `reached` is for tests, which end the process at a step. */
export const rotateSecretKey = async (
  config: Config,
  reached: (step: RotationStep) => void = () => undefined,
): Promise<void> => {
  if (config.engine === 'embedded') checkDataDirectory(config.dataDir, false);
  const rotation = rotationOf(config.dataDir, config.secretKey, config.secretKeyPrevious);
  const { key, previous } = rotation;

  // 1. Encrypt every secret with the new key. Either key opens a secret, so a repeat continues.
  const reseal = async (engines: Engines): Promise<void> => {
    reached('locked');
    await assertStopped(engines, config);
    rotation.begin();
    reached('begun');
    await resealAll(engines, () => reached('resealed one'));
    reached('resealed all');
  };
  await withEngines(reseal, { config, keys: { secretKey: key, previousKey: previous } });

  // 2. Open every secret with the new key alone, and only then remove the former key.
  const verify = async (engines: Engines): Promise<void> => {
    await assertStopped(engines, config);
    let secrets = 0;
    for await (const { ref } of engines.vault.entries()) if (ref !== '') secrets++;
    reached('verified');
    rotation.finish();
    reached('finished');
    tell(
      `${secrets} ${secrets === 1 ? 'secret is' : 'secrets are'} encrypted with the new key, and none with the former.`,
    );
  };
  await withEngines(verify, { config: { ...config, secretKeyPrevious: null }, keys: { secretKey: key } });
  tell(nextStep(config));
};

const AT_ONCE = 64;
const EVERY_MS = 1_000;

const resealAll = async ({ vault }: Engines, written: () => void): Promise<void> => {
  let done = 0;
  let toldAt = performance.now();
  let batch: Promise<void>[] = [];
  for await (const { ref, workspaceId, plaintext } of vault.entries()) {
    batch.push(vault.put(ref, workspaceId, plaintext).then(written));
    if (batch.length < AT_ONCE) continue;
    await Promise.all(batch);
    done += batch.length;
    batch = [];
    if (performance.now() - toldAt < EVERY_MS) continue;
    toldAt = performance.now();
    tell(`  ${done} secrets so far`);
  }
  await Promise.all(batch);
};

const nextStep = ({ engine, secretKey, dataDir }: Config): string => {
  if (secretKey === null) return `${dataDir}/secret.key holds the new key: back it up, then start the server.`;
  const start = 'Back up SLUICE_SECRET_KEY, and start the servers with it.';
  if (engine === 'embedded') return `${start} Unset SLUICE_SECRET_KEY_PREVIOUS.`;
  return `${start} Leave SLUICE_SECRET_KEY_PREVIOUS set for the first start of each process, then unset it.`;
};
