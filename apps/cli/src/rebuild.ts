import { type Command } from 'commander';
import { rebuildReadModels } from '#libs/assembly/rebuild.js';
import { withEngines } from './with-engines.js';

export const registerRebuild = (program: Command): void => {
  program
    .command('rebuild')
    .description('Makes every read model anew from the logs. The server must be stopped.')
    .action(() =>
      withEngines(async (engines, config) => {
        const rebuilt = await rebuildReadModels(engines, config, (name, events) =>
          process.stdout.write(`  ${name}: ${events} events so far\n`),
        );
        for (const { name, events, ms } of rebuilt) process.stdout.write(`${line(name, events, ms)}\n`);
        const events = rebuilt.reduce((sum, each) => sum + each.events, 0);
        const ms = rebuilt.reduce((sum, each) => sum + each.ms, 0);
        process.stdout.write(`${line(`${rebuilt.length} read models`, events, ms)}\n`);
      }),
    );
};

const line = (name: string, events: number, ms: number): string =>
  `${name.padEnd(34)} ${String(events).padStart(9)} events  ${(ms / 1_000).toFixed(2).padStart(7)} s  ${perSecond(events, ms)} events/s`;

const perSecond = (events: number, ms: number): string =>
  (ms === 0 ? '-' : String(Math.round((events / ms) * 1_000))).padStart(8);
