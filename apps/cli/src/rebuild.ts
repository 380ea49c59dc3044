import { type Command } from 'commander';
import { type Engines } from '#libs/composition/engines.js';
import { rebuildReadModels, type Rebuilt, withProjectionLeases } from '#libs/cluster/rebuild.js';
import { everyReadModel } from '#libs/composition/read-models.js';
import { type Config } from '#libs/config/index.js';
import { readModelsRestored } from '#libs/engines/embedded/data-directory.js';
import { tell, tellRetry } from './progress.js';
import { takeNoArguments } from './usage.js';
import { withEngines } from './with-engines.js';

export const registerRebuild = (program: Command): void => {
  const command = program
    .command('rebuild')
    .description(
      'Rebuilds every read model from the logs. Embedded: the server must be stopped. Distributed: the projector ' +
        'processes must be stopped. All others may continue; they read the old ones until the new ones are complete.',
    );
  takeNoArguments(command, (first) => `rebuild takes no names, and got ${first}: it rebuilds every read model`).action(
    () =>
      withEngines(async (engines, config) => {
        tellRebuilt(await rebuild(engines, config));
        if (config.engine === 'embedded') readModelsRestored(config.dataDir);
      }),
  );
};

const rebuild = (engines: Engines, config: Config): Promise<readonly Rebuilt[]> => {
  const work = (): Promise<readonly Rebuilt[]> =>
    rebuildReadModels(engines, everyReadModel(config), {
      onProgress: (name, events) => tell(`  ${name}: ${events} events so far`),
      onRetry: tellRetry,
    });
  // On the embedded engine this process owns the data directory, and so every projection.
  return config.engine === 'embedded' ? work() : withProjectionLeases(engines, everyReadModel(config), work);
};

export const tellRebuilt = (rebuilt: readonly Rebuilt[]): void => {
  for (const { name, events, ms } of rebuilt) tell(line(name, events, ms));
  const events = rebuilt.reduce((sum, each) => sum + each.events, 0);
  const ms = rebuilt.reduce((sum, each) => sum + each.ms, 0);
  tell(line(`${rebuilt.length} read models`, events, ms));
};

const line = (name: string, events: number, ms: number): string =>
  `${name.padEnd(34)} ${String(events).padStart(9)} events  ${(ms / 1_000).toFixed(2).padStart(7)} s  ${perSecond(events, ms)} events/s`;

const perSecond = (events: number, ms: number): string =>
  (ms === 0 ? '-' : String(Math.round((events / ms) * 1_000))).padStart(8);
