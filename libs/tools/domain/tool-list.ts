import { type ComponentMetadata } from '#libs/component-model/component-metadata.js';
import { type AccountsOf, actionSchema, hasAskedOptions, type JsonSchema, needsSecret } from './action-schema.js';
import { OPTIONS_TOOL_LISTED } from './options-tool.js';
import { type Nameable, toolNames, toolSlug } from './tool-names.js';

type Annotations = Readonly<Record<string, unknown>>;

/** A `tool` trigger of an active workflow. */
export interface WorkflowTool {
  readonly workflowId: string;
  readonly workflowName: string;
  /** Epoch milliseconds of the workflow. */
  readonly createdAt: number;
  readonly trigger: {
    /** Unique in the workflow, given or not. */
    readonly name: string;
    /** Whether the definition gives the name. */
    readonly isNamed: boolean;
    readonly description: string;
    readonly input: JsonSchema;
    readonly annotations: Annotations | null;
  };
}

/** The newest version of an action with a key, without what only its entry in the list shows. */
export interface ActionTool {
  readonly componentId: string;
  readonly key: string;
  /** Epoch milliseconds at which the first version of the key was saved, so that a new version changes no name. */
  readonly createdAt: number;
  readonly isOfRegistry: boolean;
  readonly needsSecret: boolean;
  readonly isReadOnly: boolean;
  readonly hasOptions: boolean;
}

/** What the entry of an action in the list shows, and what its calls are checked by. */
export type ActionDetails = Pick<
  ComponentMetadata,
  'name' | 'description' | 'annotations' | 'configurableProps' | 'hasAdditionalProps'
>;

/** Undefined for an action that is not known any more. */
export type DetailsOf = (action: ActionTool) => Promise<ActionDetails | undefined>;

/** What the tools of a workspace need to know of an action. */
export const actionFacts = (
  action: Pick<ActionDetails, 'annotations' | 'configurableProps' | 'hasAdditionalProps'>,
): Pick<ActionTool, 'needsSecret' | 'isReadOnly' | 'hasOptions'> => ({
  needsSecret: needsSecret(action),
  isReadOnly: action.annotations?.['readOnlyHint'] === true,
  hasOptions: hasAskedOptions(action, () => []),
});

export interface ToolCaller {
  readonly isReadOnly: boolean;
  /** Names of tools and keys of actions. Null: every tool of the workspace. */
  readonly allowed: ReadonlySet<string> | null;
}

export type ToolTarget =
  | { readonly kind: 'workflow'; readonly workflow: WorkflowTool }
  | { readonly kind: 'action'; readonly action: ActionTool }
  | { readonly kind: 'options' };

/** What a name stands for. */
export interface Tool {
  readonly name: string;
  readonly target: ToolTarget;
}

/** An entry of the list, in the form of the protocol. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly annotations?: Annotations;
}

export interface ToolsOfWorkspace {
  readonly workflows: Iterable<WorkflowTool>;
  /** The workspace's, and those of the registry that the caller's allow list names. */
  readonly actions: Iterable<ActionTool>;
}

/**
 * The tools that the caller may list and call, by name. Names come from the whole workspace, so that they are the same
 * for every caller.
 */
export const toolsFor = (caller: ToolCaller, { workflows, actions }: ToolsOfWorkspace): readonly Tool[] => {
  const slugs = new Map<string, string>();
  const known = [
    ...firstOf(workflows).map((each) => ofWorkflow(each, slugs)),
    ...withoutHidden(firstOf(actions)).map(ofAction),
  ];
  const names = toolNames(known.map(({ nameable }) => nameable));
  const tools = known.flatMap(({ keys, isReadOnly, target }, i): readonly Tool[] => {
    const name = names[i] ?? '';
    return isAllowed(caller, [name, ...keys]) && (isReadOnly || !caller.isReadOnly) ? [{ name, target }] : [];
  });
  const needsOptions = tools.some(({ target }) => target.kind === 'action' && target.action.hasOptions);
  const all = needsOptions ? [...tools, OPTIONS] : tools;
  return [...all].sort((one, other) => (one.name < other.name ? -1 : 1));
};

/** Tools of each kind that a workspace may have, because the names of all are made for each request. */
export const MOST_TOOLS = 5_000;
/**
 * Entries and bytes of one page, and actions among them, because what is read of an action may be far more than its
 * entry. Few workspaces need a second page, which not every client asks for.
 */
export const PAGE = { tools: 1_000, actions: 250, bytes: 4 * 1024 * 1024 } as const;
/** Actions whose details are read at once. */
const READ_AT_ONCE = 25;

/** The entries after the name `after`. `next` is the last name of the page, while there are more. */
export const pageOfTools = async (
  tools: readonly Tool[],
  after: string | undefined,
  { detailsOf, accountsOf }: { readonly detailsOf: DetailsOf; readonly accountsOf: AccountsOf },
): Promise<{ readonly tools: readonly ListedTool[]; readonly next?: string }> => {
  const rest = after === undefined ? tools : tools.filter(({ name }) => name > after);
  let [bytes, actions] = [0, 0];
  const page: ListedTool[] = [];
  const listed = async ({ name, target }: Tool): Promise<ListedTool | undefined> => {
    if (target.kind !== 'action')
      return target.kind === 'workflow' ? workflowEntry(name, target.workflow) : OPTIONS_TOOL_LISTED;
    const details = await detailsOf(target.action);
    return details && actionEntry(name, details, accountsOf);
  };
  for (let at = 0; at < rest.length; at += READ_AT_ONCE) {
    const part = rest.slice(at, at + READ_AT_ONCE);
    const last = page.at(-1);
    actions += part.filter(({ target }) => target.kind === 'action').length;
    if (last && actions > PAGE.actions) return { tools: page, next: last.name };
    for (const entry of await Promise.all(part.map(listed))) {
      if (!entry) continue;
      bytes += Buffer.byteLength(JSON.stringify(entry));
      const before = page.at(-1);
      if (before && (page.length >= PAGE.tools || bytes > PAGE.bytes)) return { tools: page, next: before.name };
      page.push(entry);
    }
  }
  return { tools: page };
};

const firstOf = <T>(all: Iterable<T>): readonly T[] => {
  const first: T[] = [];
  for (const each of all) {
    if (first.length >= MOST_TOOLS) break;
    first.push(each);
  }
  return first;
};

const OPTIONS: Tool = { name: OPTIONS_TOOL_LISTED.name, target: { kind: 'options' } };

interface Known {
  readonly nameable: Nameable;
  /** Further words by which an allow list may name it. */
  readonly keys: readonly string[];
  readonly isReadOnly: boolean;
  readonly target: ToolTarget;
}

/** @param slugs those that are known, by the name of the workflow, which may have twenty tools. */
const ofWorkflow = (workflow: WorkflowTool, slugs: Map<string, string>): Known => {
  const { workflowId, workflowName, createdAt, trigger } = workflow;
  const slug = slugs.get(workflowName) ?? toolSlug(workflowName);
  slugs.set(workflowName, slug);
  return {
    nameable: {
      id: `${workflowId} ${trigger.name}`,
      kind: 'workflow',
      fullName: trigger.isNamed ? trigger.name : slug,
      createdAt,
    },
    keys: [],
    isReadOnly: trigger.annotations?.['readOnlyHint'] === true,
    target: { kind: 'workflow', workflow },
  };
};

const ofAction = (action: ActionTool): Known => {
  const { key, createdAt, isOfRegistry, isReadOnly } = action;
  return {
    nameable: { id: key, kind: isOfRegistry ? 'registry' : 'action', fullName: key, createdAt },
    keys: [key],
    isReadOnly,
    target: { kind: 'action', action },
  };
};

const workflowEntry = (name: string, { workflowName, trigger }: WorkflowTool): ListedTool => {
  const { description, input, annotations } = trigger;
  return { name, title: workflowName, description, inputSchema: input, ...passedOn(annotations) };
};

const actionEntry = (name: string, details: ActionDetails, accountsOf: AccountsOf): ListedTool => {
  const { name: title, description, annotations } = details;
  return {
    name,
    title,
    ...(description === null ? {} : { description }),
    inputSchema: actionSchema(details, accountsOf),
    ...passedOn(annotations),
  };
};

/** An action of the workspace hides that of the registry with its key, as in a reference by key. */
const withoutHidden = (actions: readonly ActionTool[]): readonly ActionTool[] => {
  const own = new Set(actions.flatMap(({ key, isOfRegistry }) => (isOfRegistry ? [] : [key])));
  return actions.filter((each) => !each.needsSecret && !(each.isOfRegistry && own.has(each.key)));
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
