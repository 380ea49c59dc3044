import { type ComponentMetadata } from '#libs/component-model/component-metadata.js';
import { type AccountsOf, actionSchema, hasAskedOptions, type JsonSchema, needsSecret } from './action-schema.js';
import { OPTIONS_TOOL_LISTED } from './options-tool.js';
import { type Nameable, toolNames, toolSlug } from './tool-names.js';

export type Annotations = Readonly<Record<string, unknown>>;

/** A `tool` trigger of an active workflow. */
export interface WorkflowTool {
  readonly workflowId: string;
  readonly workflowName: string;
  /** Epoch milliseconds of the workflow. */
  readonly createdAt: number;
  /** Unique in the workflow, given or not. */
  readonly trigger: string;
  /** Null when the definition gives none. */
  readonly givenName: string | null;
  readonly description: string;
  readonly input: JsonSchema;
  readonly annotations: Annotations | null;
}

/** The newest version of an action with a key. */
export interface ActionTool extends Pick<
  ComponentMetadata,
  'name' | 'description' | 'annotations' | 'configurableProps' | 'hasAdditionalProps'
> {
  readonly componentId: string;
  readonly key: string;
  /** Epoch milliseconds at which the first version of the key was saved, so that a new version changes no name. */
  readonly createdAt: number;
  readonly isOfRegistry: boolean;
}

export interface ToolCaller {
  readonly isReadOnly: boolean;
  /** Names of tools and keys of actions. Null: every tool of the workspace. */
  readonly allowed: ReadonlySet<string> | null;
}

export type ToolTarget =
  | { readonly kind: 'workflow'; readonly workflowId: string; readonly trigger: string; readonly input: JsonSchema }
  | { readonly kind: 'action'; readonly action: ActionTool }
  | { readonly kind: 'options' };

/** An entry of the list, in the form of the protocol, with what a call of it runs. */
export interface Tool {
  readonly listed: {
    readonly name: string;
    readonly title: string;
    readonly description?: string;
    readonly inputSchema: JsonSchema;
    readonly annotations?: Annotations;
  };
  readonly target: ToolTarget;
}

export interface ToolsOfWorkspace {
  readonly workflows: readonly WorkflowTool[];
  /** The workspace's, and those of the registry that the caller's allow list names. */
  readonly actions: readonly ActionTool[];
  readonly accountsOf: AccountsOf;
}

/**
 * The tools that the caller may list and call, by name. Names come from the whole workspace, so that they are the same
 * for every caller.
 */
export const toolsFor = (caller: ToolCaller, { workflows, actions, accountsOf }: ToolsOfWorkspace): readonly Tool[] => {
  const known = [...workflows.map(ofWorkflow), ...withoutHidden(actions).map((each) => ofAction(each, accountsOf))];
  const names = toolNames(known.map(({ nameable }) => nameable));
  const tools = known.flatMap(({ keys, make }, i): readonly Tool[] => {
    const name = names[i] ?? '';
    const tool = isAllowed(caller, [name, ...keys]) ? make(name) : undefined;
    return tool && (!caller.isReadOnly || tool.listed.annotations?.['readOnlyHint'] === true) ? [tool] : [];
  });
  const needsOptions = tools.some(
    ({ target }) => target.kind === 'action' && hasAskedOptions(target.action, accountsOf),
  );
  const all = needsOptions ? [...tools, OPTIONS] : tools;
  return [...all].sort((one, other) => (one.listed.name < other.listed.name ? -1 : 1));
};

/** Entries and bytes of one page. Few workspaces need a second one, which not every client asks for. */
export const PAGE = { tools: 1_000, bytes: 4 * 1024 * 1024 } as const;

/** The entries after the name `after`. `next` is the last name of the page, while there are more. */
export const pageOfTools = (
  tools: readonly Tool[],
  after: string | undefined,
): { readonly tools: readonly Tool['listed'][]; readonly next?: string } => {
  const rest = after === undefined ? tools : tools.filter(({ listed }) => listed.name > after);
  let bytes = 0;
  const page: Tool['listed'][] = [];
  for (const { listed } of rest.slice(0, PAGE.tools)) {
    bytes += Buffer.byteLength(JSON.stringify(listed));
    if (page.length > 0 && bytes > PAGE.bytes) break;
    page.push(listed);
  }
  const last = page.at(-1);
  return { tools: page, ...(last && page.length < rest.length ? { next: last.name } : {}) };
};

const OPTIONS: Tool = { listed: OPTIONS_TOOL_LISTED, target: { kind: 'options' } };

interface Known {
  readonly nameable: Nameable;
  /** Further words by which an allow list may name it. */
  readonly keys: readonly string[];
  readonly make: (name: string) => Tool;
}

const ofWorkflow = (tool: WorkflowTool): Known => {
  const { workflowId, workflowName, createdAt, trigger, givenName, description, input, annotations } = tool;
  return {
    nameable: {
      id: `${workflowId} ${trigger}`,
      kind: 'workflow',
      fullName: givenName ?? toolSlug(workflowName),
      createdAt,
    },
    keys: [],
    make: (name) => ({
      listed: { name, title: workflowName, description, inputSchema: input, ...passedOn(annotations) },
      target: { kind: 'workflow', workflowId, trigger, input },
    }),
  };
};

const ofAction = (action: ActionTool, accountsOf: AccountsOf): Known => {
  const { componentId, key, name: title, description, annotations, createdAt, isOfRegistry } = action;
  return {
    nameable: { id: componentId, kind: isOfRegistry ? 'registry' : 'action', fullName: key, createdAt },
    keys: [key],
    make: (name) => ({
      listed: {
        name,
        title,
        ...(description === null ? {} : { description }),
        inputSchema: actionSchema(action, accountsOf),
        ...passedOn(annotations),
      },
      target: { kind: 'action', action },
    }),
  };
};

/** An action of the workspace hides that of the registry with its key, as in a reference by key. */
const withoutHidden = (actions: readonly ActionTool[]): readonly ActionTool[] => {
  const own = new Set(actions.flatMap(({ key, isOfRegistry }) => (isOfRegistry ? [] : [key])));
  return actions.filter((each) => !needsSecret(each) && !(each.isOfRegistry && own.has(each.key)));
};

const isAllowed = ({ allowed }: ToolCaller, words: readonly string[]): boolean =>
  allowed === null || words.some((word) => allowed.has(word));

const ANNOTATION_TYPES = new Map([
  ['title', 'string'],
  ['readOnlyHint', 'boolean'],
  ['destructiveHint', 'boolean'],
  ['idempotentHint', 'boolean'],
  ['openWorldHint', 'boolean'],
]);

/** A client refuses the whole list for one annotation of a wrong type. */
const passedOn = (annotations: Annotations | null): { readonly annotations?: Annotations } => {
  const right = Object.entries(annotations ?? {}).filter(([key, value]) => {
    const type = ANNOTATION_TYPES.get(key);
    return type === undefined || typeof value === type;
  });
  return right.length === 0 ? {} : { annotations: Object.fromEntries(right) };
};
