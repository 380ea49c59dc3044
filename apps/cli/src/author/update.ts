import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Command } from 'commander';
import { messageOf } from '#libs/kernel/error-message.js';
import { wrongUsage } from '../workflows/failure.js';
import { authorCommand, type Told } from './command.js';
import { type Context } from './context.js';
import { collect } from './globals.js';
import { exactLine } from './json.js';
import { type PropOptions, propSources, propsOf } from './props.js';
import { sourceIn, sourceNamed } from './sources.js';

interface Options extends PropOptions {
  readonly code?: string;
  readonly name?: string;
  readonly activate?: boolean;
  readonly deactivate?: boolean;
  /** False with `--no-emit-on-deploy`. */
  readonly emitOnDeploy?: boolean;
  readonly ignoreHookErrors?: boolean;
}

export const registerUpdate = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('update')
      .description(
        'Changes a source: what is not given stays, also whether it is active. Refused when somebody else changes it ' +
          'at the same time.',
      )
      .argument('<source>', 'id or name')
      .option('--code <file>', 'its new code: a file, or the https address of one')
      .option('--name <name>', 'its new name')
      .option('--prop <name=value>', 'name=text, name:=JSON, name=@FILE or name=env:VARIABLE; may be repeated', collect)
      .option('--props <file>', 'a file with an object of props')
      .option('--env-file <file>', 'variables for name=env:VARIABLE')
      .option('--unset <prop>', 'a prop to remove; may be repeated', collect)
      .option('--activate', 'activate it')
      .option('--deactivate', 'deactivate it')
      .option('--no-emit-on-deploy', 'drop what its hooks emit')
      .option('--ignore-hook-errors', 'go on when the deactivate hook fails'),
    update,
  );
};

const update = async (context: Context, [name = '']: readonly string[], options: Options): Promise<Told> => {
  const changes = changesOf(context, options);
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

const changesOf = ({ io }: Context, options: Options): Readonly<Record<string, unknown>> => {
  const { code, name, activate, deactivate, emitOnDeploy, ignoreHookErrors } = options;
  if (activate === true && deactivate === true) throw wrongUsage('give --activate or --deactivate, and not both');
  const props = propsOf(options, propSources(io.env, variablesIn(options.envFile)));
  const changes = {
    ...(code === undefined ? {} : codeOf(code)),
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

const codeOf = (code: string): Readonly<Record<string, string>> =>
  /^https?:\/\//.test(code) ? { component_url: code } : { component_code: fileText('--code', code) };

const variablesIn = (file: string | undefined): Readonly<Record<string, string | undefined>> =>
  file === undefined ? {} : parseEnv(fileText('--env-file', file));

const fileText = (option: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrongUsage(`${option}: ${messageOf(error)}`);
  }
};
