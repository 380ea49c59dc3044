import { type Command } from 'commander';
import { slugOf } from '#libs/kernel/slug.js';
import { CommandFailure, wrongUsage } from '../workflows/failure.js';
import { accountsOf } from './accounts-of-props.js';
import { typingPause } from './ask-options.js';
import { authorCommand, type Told } from './command.js';
import { checkIsSource, type Component, componentNamed } from './components.js';
import { type Context } from './context.js';
import { type Filled, PropForm } from './fill-form.js';
import { collect } from './globals.js';
import { exactLine, type Fields, fieldText, isFields, textOf } from './json.js';
import { type PropOptions, propSources, propsOf, variablesIn } from './props.js';
import { type Session, withQuery } from './session.js';
import { type Source, sourceIn } from './sources.js';
import { harmless, type Line } from './text.js';
import { timerLines } from './timers.js';

interface Options extends PropOptions {
  readonly name?: string;
  readonly account?: readonly string[];
  /** False with `--no-emit-on-deploy`. */
  readonly emitOnDeploy?: boolean;
  readonly upsert?: boolean;
  readonly root?: string;
  readonly promptAll?: boolean;
}

export const registerDeploy = (program: Command): void => {
  authorCommand<Options>(
    withPropOptions(
      program
        .command('deploy')
        .description(
          'Deploys a source: a file with what it imports by relative paths, the https address of a file, or the key ' +
            'or id of a component.',
        )
        .argument('[component]', 'file, https address, key or sc_…; without it you choose from the registry')
        .option('--name <name>', 'its name'),
    )
      .option('--prompt-all', 'ask for every prop')
      .option('--no-emit-on-deploy', 'drop what its hooks emit')
      .option('--upsert', 'with --name: change the source of that name if there is one'),
    deploy,
  );
};

/** Options with values of props, and the one about files. */
export const withPropOptions = (command: Command): Command =>
  command
    .option('--prop <name=value>', 'name=text, name:=JSON, name=@FILE or name=env:VARIABLE; may be repeated', collect)
    .option('--props <file>', 'a file with an object of props')
    .option('--env-file <file>', 'variables for name=env:VARIABLE')
    .option('--account <prop=account>', 'account of an app: its id or name; may be repeated', collect)
    .option('--root <folder>', 'folder whose files may be imported (default: the nearest with package.json or .git)');

const deploy = async (context: Context, [what]: readonly string[], options: Options): Promise<Told> => {
  const { name, upsert = false } = options;
  if (upsert && name === undefined) throw wrongUsage('--upsert needs --name, which says which source is meant');
  const own = propsOf(options, propSources(context.io.env, variablesIn(options.envFile)));
  const session = await context.session();
  const component = await componentNamed(session, what ?? (await keyOfRegistry(context, session)), options.root);
  checkIsSource(component);
  const given = { ...own, ...(await accountsOf(session, options.account ?? [])) };
  const former = upsert && name !== undefined ? await sourceOf(session, name) : undefined;
  const form = new PropForm(context, session, component, given, storedIn(former), {
    command: 'deploy',
    asksAll: options.promptAll === true,
  });
  const reply = await accepted(form, (filled) => {
    const body = bodyOf(component, options, filled);
    return former === undefined ? create(session, body) : change(session, former, body);
  });
  return told(context, reply, former, component);
};

/** Sends the values of a form, again after each that is refused and given anew. */
const accepted = async (form: PropForm, send: (filled: Filled) => Promise<Fields>): Promise<Fields> => {
  for (let filled = await form.fill(); ;) {
    try {
      return await send(filled);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      filled = await form.askAgain(error);
    }
  }
};

const bodyOf = ({ id }: Component, { name, emitOnDeploy }: Options, { values, dynamicPropsId }: Filled): Fields => ({
  component_id: id,
  ...(name === undefined ? {} : { name }),
  ...(Object.keys(values).length === 0 ? {} : { configured_props: values }),
  ...(dynamicPropsId === undefined ? {} : { dynamic_props_id: dynamicPropsId }),
  ...(emitOnDeploy === false ? { emit_on_deploy: false } : {}),
});

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

const create = (session: Session, body: Fields): Promise<Fields> =>
  session.request({ method: 'POST', path: '/v1/sources', json: exactLine(body) });

/** Refused when somebody else changes the source at the same time. An inactive one stays inactive. */
const change = (session: Session, { id, active, revision }: Source, body: Fields): Promise<Fields> =>
  session.request({ method: 'PUT', path: `/v1/sources/${id}`, json: exactLine({ active, ...body }), revision });

const sourceOf = async (session: Session, name: string): Promise<Source | undefined> => {
  try {
    const { data } = await session.request({ method: 'GET', path: `/v1/sources/${slugOf(name)}` });
    return sourceIn(data);
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'source_not_found') return undefined;
    throw error;
  }
};

const storedIn = (source: Source | undefined): Fields => {
  const stored = source?.fields['configured_props'];
  return isFields(stored) ? stored : {};
};

const told = ({ look }: Context, reply: Fields, former: Source | undefined, component: Component): Told => {
  const { data, warnings } = reply;
  const source = sourceIn(data);
  const configured = storedIn(source);
  const endpoints = Object.values(configured).map((value) => fieldText(value, 'endpoint_url'));
  const done = former === undefined ? 'deployed' : 'updated';
  const lines: readonly Line[] = [
    [{ text: source.name, as: 'strong' }, ` (${source.id}): ${done}, ${source.active ? 'active' : 'inactive'}`],
    ...endpoints.filter((url) => url !== '').map((url): Line => [{ text: 'endpoint  ', as: 'dim' }, url]),
    ...(source.active ? timerLines(configured, look) : []),
  ];
  return { data, warnings: Array.isArray(warnings) ? warnings : component.warnings, lines };
};
