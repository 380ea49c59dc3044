import { accountIn, configuredProps, INVALID_ARGUMENTS } from './action-arguments.js';
import { type AccountsOf, hasRemoteOptions, isAsked } from './action-schema.js';
import { argumentFaults } from './check-arguments.js';
import { OPTIONS_TOOL_LISTED } from './options-tool.js';
import { type ActionDetails, type DetailsOf, type Tool, type ToolTarget } from './tool-list.js';
import { OPTIONS_TOOL } from './tool-names.js';
import { type Failure } from './tool-reply.js';

type Json = Readonly<Record<string, unknown>>;

/** What a call does. */
export type ToolCall =
  /** The protocol has an error for it: no answer says whether the tool exists. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'workflow'; readonly workflowId: string; readonly trigger: string; readonly event: Json }
  | { readonly kind: 'action'; readonly componentId: string; readonly props: Json }
  | {
      readonly kind: 'options';
      readonly componentId: string;
      readonly prop: string;
      readonly props: Json;
      readonly page: number;
      readonly query?: string;
      readonly prevContext?: unknown;
    };

/** What calls are checked by. */
export interface CallableTools {
  /** Those that the caller may call, so a forbidden tool is unknown. */
  readonly tools: readonly Tool[];
  readonly detailsOf: DetailsOf;
  readonly accountsOf: AccountsOf;
}

export const toolCall = async (
  known: CallableTools,
  { name, arguments: given = {} }: { readonly name: string; readonly arguments?: Json | undefined },
): Promise<ToolCall> => {
  const target = targetOf(known, name);
  switch (target?.kind) {
    case undefined:
      return { kind: 'unknown' };
    case 'workflow': {
      const { workflowId, trigger } = target.workflow;
      return checked(trigger.input, given) ?? { kind: 'workflow', workflowId, trigger: trigger.name, event: given };
    }
    case 'action': {
      const details = await known.detailsOf(target.action);
      if (!details) return { kind: 'unknown' };
      const configured = configuredProps(details, given, known.accountsOf);
      if ('failure' in configured) return { kind: 'failure', ...configured };
      return { kind: 'action', componentId: target.action.componentId, props: configured.props };
    }
    case 'options':
      return checked(OPTIONS_TOOL_LISTED.inputSchema, given) ?? (await optionsCall(known, given as unknown as Asked));
  }
};

const targetOf = ({ tools }: CallableTools, name: string): ToolTarget | undefined =>
  tools.find((tool) => tool.name === name)?.target;

const checked = (schema: Json, given: Json): ToolCall | undefined => {
  const faults = argumentFaults(schema, given);
  return faults.length === 0 ? undefined : invalid(faults.join('\n'));
};

const invalid = (message: string): ToolCall => ({ kind: 'failure', failure: { name: INVALID_ARGUMENTS, message } });

/** Arguments that fit the schema of the tool for options. */
interface Asked {
  readonly tool: string;
  readonly prop: string;
  readonly query?: string;
  readonly page?: number;
  readonly prev_context?: unknown;
  readonly arguments?: Json;
}

const optionsCall = async (
  known: CallableTools,
  { tool, prop: asked, query, page = 0, prev_context: prevContext, arguments: given = {} }: Asked,
): Promise<ToolCall> => {
  const target = targetOf(known, tool);
  const action = target?.kind === 'action' ? await known.detailsOf(target.action) : undefined;
  if (target?.kind !== 'action' || !action) {
    return invalid(`arguments.tool: ${told(tool)} is no tool whose arguments have values here: see the list of tools`);
  }
  const found = action.configurableProps.find(({ name }) => name === asked);
  // Additional props are not among those of the component, and may have options too.
  const isOpen = found ? isAsked(found, known.accountsOf) && hasRemoteOptions(found) : action.hasAdditionalProps;
  if (!isOpen) {
    return invalid(
      `arguments.prop: the description of ${told(asked)} of ${told(tool)} does not name the tool ${OPTIONS_TOOL}`,
    );
  }
  const configured = configuredProps(action, given, known.accountsOf);
  if ('failure' in configured) return { kind: 'failure', ...configured };
  // Nothing tells which app an additional prop belongs to, and a form takes any account of the workspace.
  const named = Object.keys(given).find((name) => isAdditional(action, name) && accountIn(undefined, given[name]));
  if (named !== undefined) return invalid(`arguments.arguments.${named.slice(0, 100)}: must name no account`);
  return {
    kind: 'options',
    componentId: target.action.componentId,
    prop: asked,
    props: configured.props,
    page,
    ...(query === undefined ? {} : { query }),
    ...(prevContext === undefined ? {} : { prevContext }),
  };
};

const isAdditional = ({ configurableProps }: ActionDetails, name: string): boolean =>
  !configurableProps.some((prop) => prop.name === name);

const told = (text: string): string => JSON.stringify(text.slice(0, 100));
