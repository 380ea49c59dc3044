import path from 'node:path';
import { type Command } from 'commander';
import { readBuildStatus, type RegistrySource, RegistrySources } from '#libs/components/index.js';
import { registryDirOf, registryPackages } from '#libs/composition/registry.js';
import { systemClock } from '#libs/kernel/clock.js';
import { tell } from './progress.js';
import { licenceOf, registryLines, revisionOf } from './registry-lines.js';
import { readConfig } from './with-engines.js';

const WHERE =
  'Servers may be running: they build what is new within seconds, and the log lines `registry.synced` and `registry.refused` tell the outcome.';

export const registerRegistry = (program: Command): void => {
  const registry = program
    .command('registry')
    .description(`Adds, lists, updates and removes the components that every workspace may deploy by key. ${WHERE}`);
  registry
    .command('add')
    .description('Copies components into the registry from a folder, a git repository or an npm package.')
    .argument('<from>', 'a folder, git+<url>[#<branch or tag>], or npm:<name>[@<version or range>]')
    .option('--name <name>', 'name of the source in the registry; default: the last part of <from>')
    .action(async (from: string, { name }: { name?: string }) => {
      const { sources, dir } = opened();
      const added = await sources.add(from, name);
      tell(`added ${added.name} to ${dir}${revisionOf(added)}, ${licenceOf(added)}`);
      process.stderr.write('`sluice registry list` shows how far a running server has built it\n');
    });
  registry
    .command('list')
    .description(
      'Lists the sources of the registry: name, origin, revision, licence, time of the last copy, and how many of their components are built. Shows the files that a server builds now, and those that it could not build with the reason.',
    )
    .action(async () => {
      const { sources, dir } = opened();
      const [found, status] = await Promise.all([sources.list(), readBuildStatus(dir)]);
      for (const line of registryLines(found, status, systemClock.now())) tell(line);
      process.stderr.write(`${found.length} ${found.length === 1 ? 'source' : 'sources'} in ${dir}\n`);
    });
  registry
    .command('update')
    .description('Copies sources again from where they came. Deployed sources keep the code that they have.')
    .argument('[name]', 'only this one')
    .action(async (name: string | undefined) => {
      const { sources } = opened();
      const names = name === undefined ? (await sources.list()).map((one) => one.name) : [name];
      for (const each of names) tell(updatedLine(await sources.update(each)));
    });
  registry
    .command('remove')
    .description('Removes a source of the registry. What was deployed from it continues.')
    .argument('<name>', 'name, as `sluice registry list` shows it')
    .action(async (name: string) => {
      const { sources } = opened();
      await sources.remove(name);
      tell(`removed ${name}`);
    });
};

/** The command itself reports what it did. */
const QUIET = { info: () => undefined, warn: () => undefined };

const opened = (): { readonly sources: RegistrySources; readonly dir: string } => {
  const config = readConfig();
  const given = registryDirOf(config);
  if (given === undefined)
    throw new Error('SLUICE_REGISTRY_DIR is not set: name a folder that every command-api process can read');
  const dir = path.resolve(given);
  const packages = registryPackages(config, QUIET, (text) => void process.stderr.write(`${text}\n`));
  return { dir, sources: new RegistrySources({ dir, now: () => systemClock.now(), packages }) };
};

const updatedLine = (source: RegistrySource): string =>
  `updated ${source.name}${revisionOf(source)}, ${licenceOf(source)}`;
