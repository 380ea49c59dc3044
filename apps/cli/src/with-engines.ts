import path from 'node:path';
import { pause } from '#libs/async/pause.js';
import { type Engines } from '#libs/composition/engines.js';
import { type Config, keepFilesPrivate, loadConfig, previousKeyOf, secretKeyOf } from '#libs/config/index.js';
import { inspectDataDirectory } from '#libs/engines/embedded/data-directory.js';
import { openEmbedded } from '#libs/engines/embedded/index.js';
import { UnusableDataDirectory } from '#libs/config/unusable-data-directory.js';
import { RefusedStart } from '#libs/config/refused-start.js';
import { engineProblem } from '#libs/hosting/start-problem.js';
import { systemClock } from '#libs/kernel/clock.js';
import { newId } from '#libs/kernel/ids.js';
import { messageOf } from '#libs/kernel/error-message.js';

export type Work = (engines: Engines, config: Config) => Promise<void>;

/** Reads the settings. SLUICE_PUBLIC_URL may be missing, because no command uses it. */
export const readConfig = (): Config =>
  loadConfig({ SLUICE_PUBLIC_URL: 'http://localhost', ...process.env }, (text) => process.stderr.write(`${text}\n`));

/**
 * Opens the engines of SLUICE_ENGINE for one command. Rejects when a server uses the data directory, when it is damaged
 * or belongs to another program, and, unless `create` is set, when it contains no installation.
 */
export const withEngines = async (
  work: Work,
  { config = readConfig(), create = false, keys }: OpenOptions = {},
): Promise<void> => {
  if (config.engine === 'embedded') checkDataDirectory(config.dataDir, create);
  keepFilesPrivate(config.dataDir, (text) => process.stderr.write(`${text}\n`));
  switch (config.engine) {
    case 'embedded':
      return withEmbedded(work, config, keys ?? keysOf(config));
    case 'distributed':
      return withDistributed(work, config);
  }
};

interface OpenOptions {
  readonly config?: Config;
  readonly create?: boolean;
  /** Keys of the secrets in a data directory that differ from those in its settings and files. */
  readonly keys?: SecretKeys;
}

interface SecretKeys {
  readonly secretKey: Buffer;
  readonly previousKey?: Buffer | undefined;
}

const keysOf = ({ dataDir, secretKey, secretKeyPrevious }: Config): SecretKeys => ({
  secretKey: secretKeyOf(dataDir, secretKey, secretKeyPrevious),
  previousKey: previousKeyOf(secretKeyPrevious),
});

/** Throws UnusableDataDirectory when the folder contains no installation, unless `create` is set. */
export const checkDataDirectory = (dataDir: string, create: boolean): void => {
  const { isInstallation } = inspectDataDirectory(dataDir, (text) => process.stderr.write(`${text}\n`));
  if (isInstallation || create) return;
  throw new UnusableDataDirectory(
    `SLUICE_DATA_DIR: ${path.resolve(dataDir)} holds no installation: name the data directory of one, ` +
      `or start a server there first`,
  );
};

const withEmbedded = async (work: Work, config: Config, keys: SecretKeys): Promise<void> => {
  const { dataDir } = config;
  let failure: Error | undefined;
  const engines = await openEmbedded({
    dataDir,
    clock: systemClock,
    ...keys,
    onFatal: (error) => (failure = error),
  });
  try {
    await work(engines, config);
    if (failure) throw failure;
  } finally {
    await engines.close();
  }
};

const withDistributed = async (work: Work, config: Config): Promise<void> => {
  // Imported on demand, because the embedded engine does not need the drivers.
  const { openDistributed } = await import('#libs/engines/distributed/index.js');
  const engines = await openDistributed({
    config,
    awaiting,
    clientId: `cli-${newId('proc', systemClock.now())}`,
    onWarning: (text) => process.stderr.write(`${text}\n`),
  });
  try {
    await work(engines, config);
  } finally {
    await engines.close();
  }
};

const PATIENCE_MS = 5_000;
const RETRY_MS = 1_000;

/** Retries for a few seconds, then ends the command with the name of the unavailable engine. */
const awaiting = async <T>(engine: string, open: () => Promise<T>): Promise<T> => {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (error instanceof RefusedStart) throw error;
      const reason = messageOf(error);
      if (performance.now() + RETRY_MS > until) throw new Error(engineProblem(engine, reason), { cause: error });
      process.stderr.write(`waiting for ${engine}: ${reason}\n`);
      await pause(RETRY_MS);
    }
  }
};
