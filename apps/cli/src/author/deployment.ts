import { type Command } from 'commander';
import { CommandFailure } from './failure.js';
import { accountsOf } from './accounts-of-props.js';
import { type Component } from './components.js';
import { type Context } from './context.js';
import { type Filled, PropForm } from './fill-form.js';
import { collect } from './globals.js';
import { exactLine, type Fields, fieldText, isFields } from './json.js';
import { type PropOptions, propSources, propsOf, variablesIn, withPropOptions } from './props.js';
import { type Session } from './session.js';
import { type Source, sourceIn } from './sources.js';
import { type Line, type Look } from './text.js';
import { timerLines } from './timers.js';

/** Options of commands that deploy. */
export interface DeploymentOptions extends PropOptions {
  readonly name?: string;
  readonly account?: readonly string[];
  readonly root?: string;
  readonly promptAll?: boolean;
  /** False with `--no-emit-on-deploy`. */
  readonly emitOnDeploy?: boolean;
}

export const withDeploymentOptions = (command: Command): Command =>
  withPropOptions(command.option('--name <name>', 'its name'))
    .option('--account <prop=account>', 'account of an app: its id or name; may be repeated', collect)
    .option('--prompt-all', 'ask for every prop')
    .option('--root <folder>', 'folder whose files may be imported (default: the nearest with package.json or .git)')
    .option('--no-emit-on-deploy', 'drop what its hooks emit');

/** What is deployed, and on what. */
export interface Deployment {
  readonly command: string;
  readonly context: Context;
  readonly session: Session;
  readonly component: Component;
  readonly options: DeploymentOptions;
  /** Values of the command line, but for accounts. */
  readonly own: Fields;
  /** The source that gets the component. Undefined for a new one. */
  readonly former: Source | undefined;
  /** State of a former source afterwards. */
  readonly active: boolean;
}

/** Values of the command line, but for accounts, which need a server. Throws CommandFailure. */
export const ownProps = ({ io }: Context, options: PropOptions): Fields =>
  propsOf(options, propSources(io.env, variablesIn(options.envFile)));

/** The props of a component, with the values that the command line gives. */
export const formOf = async ({
  command,
  context,
  session,
  component,
  options,
  own,
  former,
}: Omit<Deployment, 'active'>): Promise<PropForm> => {
  const given = { ...own, ...(await accountsOf(session, options.account ?? [])) };
  const asked = { command, asksAll: options.promptAll === true };
  return new PropForm(context, session, component, given, storedIn(former), asked);
};

/** Makes a source of a component, or gives it to one. Resolves with the reply. Rejects with CommandFailure. */
export const deployComponent = async (deployment: Deployment): Promise<Fields> => {
  const { session, former } = deployment;
  const form = await formOf(deployment);
  return accepted(form, (filled) => {
    const body = bodyOf(deployment, filled);
    if (former === undefined) return session.request({ method: 'POST', path: '/v1/sources', json: exactLine(body) });
    const json = exactLine({ active: deployment.active, ...body });
    // Refused when somebody else changes the source at the same time.
    return session.request({ method: 'PUT', path: `/v1/sources/${former.id}`, json, revision: former.revision });
  });
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

const bodyOf = ({ component, options }: Deployment, { values, dynamicPropsId }: Filled): Fields => ({
  component_id: component.id,
  ...(options.name === undefined ? {} : { name: options.name }),
  ...(Object.keys(values).length === 0 ? {} : { configured_props: values }),
  ...(dynamicPropsId === undefined ? {} : { dynamic_props_id: dynamicPropsId }),
  ...(options.emitOnDeploy === false ? { emit_on_deploy: false } : {}),
});

/** Values that a source has. */
const storedIn = (source: Source | undefined): Fields => {
  const stored = source?.fields['configured_props'];
  return isFields(stored) ? stored : {};
};

export const endpointsOf = (source: Source): readonly string[] =>
  Object.values(storedIn(source))
    .map((value) => fieldText(value, 'endpoint_url'))
    .filter((url) => url !== '');

/** Where a source is reached, and when it runs. */
export const placeLines = (source: Source, look: Look): readonly Line[] => [
  ...endpointsOf(source).map((url): Line => [{ text: 'endpoint  ', as: 'dim' }, url]),
  ...(source.active ? timerLines(storedIn(source), look) : []),
];

/** The source of a reply, with the warnings about it and its component. */
export const deployed = (
  reply: Fields,
  component: Component,
): { readonly source: Source; readonly warnings: readonly unknown[] } => {
  const { data, warnings } = reply;
  return { source: sourceIn(data), warnings: Array.isArray(warnings) ? warnings : component.warnings };
};
