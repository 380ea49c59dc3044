import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { collect } from './globals.js';
import { codeOfFiles } from './components.js';
import { filesOfComponent } from './files-of-component.js';
import { exactLine, type Fields } from './json.js';
import { type PropOptions, propSources, propsOf, variablesIn, withPropOptions } from './props.js';
import { sourceIn, sourceNamed } from './sources.js';

interface Options extends PropOptions {
  readonly code?: string;
  readonly root?: string;
  readonly name?: string;
  readonly activate?: boolean;
  readonly deactivate?: boolean;
  /** False with `--no-emit-on-deploy`. */
  readonly emitOnDeploy?: boolean;
  readonly ignoreHookErrors?: boolean;
}

export const registerUpdate = (program: Command): void => {
  authorCommand<Options>(
    withPropOptions(
      program
        .command('update')
        .description(
          'Changes a source: what is not given stays, also whether it is active. Refused when somebody else changes it ' +
            'at the same time.',
        )
        .argument('<source>', 'id or name')
        .option('--code <file>', 'its new code: a file with what it imports, or the https address of one')
        .option(
          '--root <folder>',
          'folder whose files may be imported (default: the nearest with package.json or .git)',
        )
        .option('--name <name>', 'its new name'),
    )
      .option('--unset <prop>', 'a prop to remove; may be repeated', collect)
      .option('--activate', 'activate it')
      .option('--deactivate', 'deactivate it')
      .option('--no-emit-on-deploy', 'drop what its hooks emit')
      .option('--ignore-hook-errors', 'go on when the deactivate hook fails'),
    update,
  );
};

const update = async (context: Context, [name = '']: readonly string[], options: Options): Promise<Told> => {
  const changes = await changesOf(context, options);
  const session = await context.session();
  const { id, active, revision } = await sourceNamed(session, name);
  // The API activates a source when this is left out.
  const json = exactLine({ active: options.activate ?? (options.deactivate === true ? false : active), ...changes });
  const { data, warnings } = await session.request({ method: 'PUT', path: `/v1/sources/${id}`, json, revision });
  const changed = sourceIn(data);
  return {
    data,
    ...(Array.isArray(warnings) ? { warnings } : {}),
    lines: [`${changed.name} (${id}): updated, ${changed.active ? 'active' : 'inactive'}`],
  };
};

const changesOf = async ({ io }: Context, options: Options): Promise<Fields> => {
  const { code, name, activate, deactivate, emitOnDeploy, ignoreHookErrors } = options;
  if (activate === true && deactivate === true) throw wrongUsage('give --activate or --deactivate, and not both');
  const props = propsOf(options, propSources(io.env, variablesIn(options.envFile)));
  const changes = {
    ...(code === undefined ? {} : await codeOf(code, options.root)),
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(props).length === 0 ? {} : { configured_props: props }),
  };
  if (Object.keys(changes).length === 0 && activate !== true && deactivate !== true)
    throw wrongUsage('nothing to change: give --code, --name, --prop, --props, --unset, --activate or --deactivate');
  return {
    ...changes,
    ...(emitOnDeploy === false ? { emit_on_deploy: false } : {}),
    ...(ignoreHookErrors === true ? { ignore_hook_errors: true } : {}),
  };
};

const codeOf = async (code: string, root: string | undefined): Promise<Fields> => {
  if (/^https?:\/\//i.test(code)) return { component_url: code };
  return codeOfFiles(await filesOfComponent(code, root));
};
