import { type Command } from 'commander';
import { exportInstallation } from '#libs/archive/export-installation.js';
import { secretKeyOf } from '#libs/config/index.js';
import { tell, tellProgress } from './progress.js';
import { assertStopped } from './stopped.js';
import { requireOption, takeNoArguments } from './usage.js';
import { withEngines } from './with-engines.js';

export const registerExport = (program: Command): void => {
  const command = program
    .command('export')
    .description(
      'Writes the whole installation to a folder, for `sluice import` into other engines. All servers must be stopped. ' +
        'Secrets are sealed with SLUICE_SECRET_KEY; the rest (payloads, component code) is readable: keep it safe.',
    );
  takeNoArguments(command, (first) => `the folder is given as an option: --out ${first}`);
  requireOption(command, '--out <folder>', 'a new or empty folder').action(({ out }: { out: string }) =>
    withEngines(async (engines, config) => {
      const startedAt = performance.now();
      const { archive, parts } = await exportInstallation({
        engines,
        folder: out,
        onProgress: tellProgress,
        now: engines.clock.now(),
        secretKey: secretKeyOf(config.dataDir, config.secretKey, config.secretKeyPrevious),
        assertStopped: () => assertStopped(engines, config),
      });
      const records = Object.values(parts).reduce((sum, part) => sum + part.records, 0);
      const seconds = (performance.now() - startedAt) / 1_000;
      tell(`archive ${archive}: ${records} records in ${seconds.toFixed(1)} s, in ${out}`);
      const key = config.secretKey === null ? `the key in ${config.dataDir}/secret.key` : 'this SLUICE_SECRET_KEY';
      tell(`The import needs ${key} as its SLUICE_SECRET_KEY.`);
    }),
  );
};
