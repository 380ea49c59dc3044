import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command } from 'commander';
import { ArchiveReader, readManifest } from '#libs/archive/archive-reader.js';
import { importInstallation, sealOf } from '#libs/archive/import-installation.js';
import { type Config, secretKeyFrom, secretKeyOf } from '#libs/config/index.js';
import { tell, tellProgress, tellRetry } from './progress.js';
import { tellRebuilt } from './rebuild.js';
import { assertStopped } from './stopped.js';
import { requireOption, takeNoArguments } from './usage.js';
import { readConfig, withEngines, type Work } from './with-engines.js';

export const registerImport = (program: Command): void => {
  const command = program
    .command('import')
    .description(
      'Creates an installation from an archive of `sluice export`, on the engines that SLUICE_ENGINE names. They must ' +
        'be empty. After an interruption the same command continues the import. SLUICE_SECRET_KEY must be the key ' +
        'of the exported installation. Start the servers only after the import has ended.',
    );
  takeNoArguments(command, (first) => `the folder is given as an option: --in ${first}`);
  requireOption(command, '--in <folder>', 'folder that `sluice export` wrote').action(
    async ({ in: folder }: { in: string }) => {
      const config = readConfig();
      const startedAt = performance.now();
      // Checks the archive and the key before anything is written.
      const secretKey = keyGiven(config);
      sealOf(await readManifest(folder), secretKey);
      const archive = await ArchiveReader.open(folder, tellProgress);
      const work: Work = async (engines) => {
        const { leftOut, rebuilt } = await importInstallation({
          engines,
          config,
          archive,
          secretKey,
          onProgress: tellProgress,
          onRetry: tellRetry,
          assertStopped: () => assertStopped(engines, config),
        });
        tellRebuilt(rebuilt);
        if (leftOut > 0) tell(`${leftOut} records of deleted sources and webhooks were left out.`);
      };
      await withEngines(work, { config, create: true });
      const { parts } = archive.manifest;
      const records = Object.values(parts).reduce((sum, part) => sum + part.records, 0);
      const seconds = (performance.now() - startedAt) / 1_000;
      tell(`archive ${archive.manifest.archive}: ${records} records in ${seconds.toFixed(1)} s. Start the servers.`);
    },
  );
};

/**
 * Avoids opening the data directory where possible, because that would initialize it with this key, even a wrong one.
 */
const keyGiven = ({ dataDir, secretKey }: Config): Buffer => {
  if (secretKey !== null) return secretKeyFrom(secretKey);
  if (existsSync(join(dataDir, 'secret.key'))) return secretKeyOf(dataDir, null);
  throw new Error(
    'SLUICE_SECRET_KEY is not given: give the key of the installation that was exported ' +
      '(its SLUICE_SECRET_KEY, or what <its data dir>/secret.key holds)',
  );
};
