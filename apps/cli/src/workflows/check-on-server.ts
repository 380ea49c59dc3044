import {
  type FileFault,
  MASK,
  placedAt,
  valueAt,
  type WorkflowInFolder,
  type WorkflowOnServer,
} from '#libs/workflow-files/index.js';
import { type Session } from '../author/session.js';
import { CommandFailure } from '../author/failure.js';

export interface CheckedOnServer {
  readonly faults: readonly FileFault[];
  readonly warnings: readonly FileFault[];
}

/** Lets a server check a definition without a change. A component that the workflow has pinned need not be there. */
export const checkOnServer = async (
  session: Session,
  workflow: WorkflowInFolder,
  found: WorkflowOnServer | undefined,
  strict: boolean,
): Promise<CheckedOnServer> => {
  const name = found?.definition['name'];
  const kept = { external_id: workflow.externalId, ...(typeof name === 'string' ? { name } : {}) };
  const body = { ...kept, ...workflow.definition, ...(strict ? { strict } : {}) };
  try {
    const answer = await session.plain({ method: 'POST', path: VALIDATE, body });
    return { faults: [], warnings: placedAt(workflow, warningsIn(answer)) };
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'invalid_definition') throw error;
    const errors = faultsIn(error);
    if (errors.length === 0) throw error;
    const told = errors.filter((each) => !isKept(each, workflow.definition, found));
    return { faults: placedAt(workflow, told), warnings: [] };
  }
};

export const VALIDATE = '/v1/workflows/validate';

/** What is wrong with a definition, by the answer of a server. */
export const faultsIn = ({ details: { errors } }: CommandFailure): readonly Told[] =>
  Array.isArray(errors) ? (errors as readonly Told[]) : [];

/** What an answer of a server has beside `data`. */
export const warningsIn = (answer: unknown): readonly Told[] =>
  (answer as { readonly warnings?: readonly Told[] }).warnings ?? [];

interface Told {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** A step keeps the component of the `uses` that is in force, and a mask the secret (docs/reference/workflows.md#versions). */
const isKept = (
  { path, code }: Told,
  definition: WorkflowInFolder['definition'],
  found: WorkflowOnServer | undefined,
): boolean => {
  if (found === undefined) return false;
  if (valueAt(definition, path) === MASK) return true;
  const [, index] = /^steps\[(\d+)\]\.uses$/.exec(path) ?? [];
  if (code !== 'unresolved' || index === undefined) return false;
  const uses = usesIn(definition)[Number(index)];
  return uses !== undefined && usesIn(found.definition).includes(uses);
};

const usesIn = (definition: unknown): readonly (string | undefined)[] => {
  const { steps } = definition as { readonly steps?: readonly { readonly uses?: string }[] };
  return (steps ?? []).map(({ uses }) => uses);
};
