import { type Config, loadConfig, secretKeyOf } from '#libs/config/index.js';
import { type EmbeddedEngines, openEmbedded } from '#libs/engines/embedded/index.js';
import { systemClock } from '#libs/kernel/clock.js';

/** Opens the data directory for one command. Rejects when a server has it. */
export const withEngines = async (work: (engines: EmbeddedEngines, config: Config) => Promise<void>): Promise<void> => {
  const config = loadConfig(process.env, (text) => process.stderr.write(`${text}\n`));
  const { dataDir } = config;
  let failure: Error | undefined;
  const engines = await openEmbedded({
    ...{ dataDir, clock: systemClock },
    secretKey: secretKeyOf(dataDir, config.secretKey),
    onFatal: (error) => (failure = error),
  });
  try {
    await work(engines, config);
    if (failure) throw failure;
  } finally {
    await engines.close();
  }
};
