import { hash } from 'node:crypto';

/** Clients put the name of the server in front of the name of a tool, and models take 64 characters. */
export const MAX_TOOL_NAME = 48;
/** The tool that answers with the values of a prop. No other tool gets its name. */
export const OPTIONS_TOOL = 'sluice_options';

/** What asks for a name. */
export interface Nameable {
  /** Id of the workflow or of the component. */
  readonly id: string;
  readonly kind: 'workflow' | 'action' | 'registry';
  /** Before any character is replaced: the name of the trigger, the slug of the workflow, or the key of the action. */
  readonly fullName: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Makes a slug of the name of a workflow. Never empty. */
export const toolSlug = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (
    plain
      .split(/[^a-z0-9]+/)
      .filter(Boolean)
      .join('_') || 'workflow'
  );
};

/**
 * The name of each, in the order given. Workflows choose before actions, these before actions of the registry, and the older before the younger. So a new tool
 * never takes the name of an older one of its kind.
 */
export const toolNames = (tools: readonly Nameable[]): readonly string[] => {
  const taken = new Set([OPTIONS_TOOL]);
  const names = new Map<Nameable, string>();
  for (const tool of [...tools].sort(byPrecedence)) {
    const name = firstFree(tool, taken);
    taken.add(name);
    names.set(tool, name);
  }
  return tools.flatMap((tool) => names.get(tool) ?? []);
};

/** Of the registry each caller sees others, which change no name of the workspace. */
const KINDS: readonly Nameable['kind'][] = ['workflow', 'action', 'registry'];

const byPrecedence = (one: Nameable, other: Nameable): number => {
  if (one.kind !== other.kind) return KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind);
  if (one.createdAt !== other.createdAt) return one.createdAt - other.createdAt;
  return one.id < other.id ? -1 : 1;
};

const firstFree = ({ id, fullName }: Nameable, taken: ReadonlySet<string>): string => {
  const plain = fullName.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain.length <= MAX_TOOL_NAME && plain !== '' && !taken.has(plain)) return plain;
  let name = digested(plain, fullName);
  // Three tools of one full name have one digest: the third and each further one adds its id.
  for (let i = 0; taken.has(name); i++) name = digested(plain, `${fullName} ${id} ${i}`);
  return name;
};

const digested = (plain: string, text: string): string =>
  `${plain.slice(0, MAX_TOOL_NAME - 7)}_${hash('sha256', text).slice(0, 6)}`;
