import { type Command } from 'commander';
import { slugOf } from '#libs/kernel/slug.js';
import { CommandFailure, wrongUsage } from './failure.js';
import { typingPause } from './ask-options.js';
import { authorCommand, type Told } from './command.js';
import { checkIsSource, componentNamed } from './components.js';
import { type Context } from './context.js';
import {
  deployComponent,
  deployed,
  type DeploymentOptions,
  ownProps,
  placeLines,
  withDeploymentOptions,
} from './deployment.js';
import { textOf } from './json.js';
import { type Session, withQuery } from './session.js';
import { type Source, sourceIfThere } from './sources.js';
import { harmless } from './text.js';

interface Options extends DeploymentOptions {
  readonly upsert?: boolean;
}

export const registerDeploy = (program: Command): void => {
  authorCommand<Options>(
    withDeploymentOptions(
      program
        .command('deploy')
        .description(
          'Deploys a source: a file with what it imports by relative paths, the https address of a file, or the key ' +
            'or id of a component.',
        )
        .argument('[component]', 'file, https address, key or sc_…; without it you choose from the registry'),
    ).option('--upsert', 'with --name: change the source of that name if there is one'),
    deploy,
  );
};

export const deploy = async (context: Context, [what]: readonly string[], options: Options): Promise<Told> => {
  const { name, upsert = false } = options;
  if (upsert && name === undefined) throw wrongUsage('--upsert needs --name, which says which source is meant');
  const own = ownProps(context, options);
  const session = await context.session();
  const component = await componentNamed(session, what ?? (await keyOfRegistry(context, session)), options.root);
  checkIsSource(component);
  const former = upsert && name !== undefined ? await sourceIfThere(session, slugOf(name)) : undefined;
  const active = former?.active ?? true;
  const reply = await deployComponent({ command: 'deploy', context, session, component, options, own, former, active });
  const { source, warnings } = deployed(reply, component);
  if (upsert && name !== undefined && former === undefined) await mustHaveName(session, source, slugOf(name));
  const done = `${former === undefined ? 'deployed' : 'updated'}, ${source.active ? 'active' : 'inactive'}`;
  return {
    data: source.fields,
    warnings,
    lines: [[{ text: source.name, as: 'strong' }, ` (${source.id}): ${done}`], ...placeLines(source, context.look)],
  };
};

/** Rejects with 5 when the new source got another slug, because somebody else made one of its name at the same time. */
const mustHaveName = async (session: Session, { id, name }: Source, wanted: string): Promise<void> => {
  if (name === wanted) return;
  const path = withQuery(`/v1/sources/${id}`, { ignore_hook_errors: 'true' });
  await session.request({ method: 'DELETE', path });
  throw new CommandFailure({
    exit: 5,
    code: 'failed',
    message: `a source called ${wanted} was made at the same moment, so this one (${id}) was deleted. Run the command again to update the other.`,
  });
};

/** Asks for a source of the registry. */
const keyOfRegistry = async ({ prompts }: Context, session: Session): Promise<string> => {
  if (prompts === undefined) throw wrongUsage('name a file, an https address, a key or sc_… of a component');
  return prompts.search('Source of the registry', async (typed, signal) => {
    await typingPause(signal);
    const query = typed.trim() === '' ? {} : { query: typed };
    const found = await session.request({ method: 'GET', path: withQuery('/v1/components/search', query) });
    const keys = Array.isArray(found['sources']) ? found['sources'] : [];
    return keys.map(textOf).map((key) => ({ name: harmless(key), value: key }));
  });
};
