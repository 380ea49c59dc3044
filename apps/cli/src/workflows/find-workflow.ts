import { type WorkflowInFolder, type WorkflowOnServer } from '#libs/workflow-files/index.js';
import { isFields } from '../author/json.js';
import { type Session } from '../author/session.js';
import { CommandFailure } from '../author/failure.js';

export interface FoundWorkflow extends WorkflowOnServer {
  readonly ownerId: string;
  readonly managedBy: string | null;
  /** Another one after each change. */
  readonly revision: number;
}

/** The workflow that a folder is, or undefined when the server has none (docs/reference/workflows.md#files-identity). */
export const findWorkflow = async (
  session: Session,
  { id, externalId }: Pick<WorkflowInFolder, 'id' | 'externalId'>,
): Promise<FoundWorkflow | undefined> => {
  const byId = id === undefined ? undefined : await findById(session, id);
  return byId ?? read(session, `ext:${externalId}`);
};

/** The workflow with this id, or undefined when the server, or the named workspace, has none. */
export const findById = async (session: Session, id: string): Promise<FoundWorkflow | undefined> => {
  const [found, workspaceId] = [await read(session, id), await session.namedWorkspace()];
  return found !== undefined && (workspaceId === null || found.ownerId === workspaceId) ? found : undefined;
};

const read = async (session: Session, name: string): Promise<FoundWorkflow | undefined> => {
  try {
    return workflowIn(
      session,
      await session.plain({ method: 'GET', path: `/v1/workflows/${encodeURIComponent(name)}` }),
    );
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'workflow_not_found') return undefined;
    throw error;
  }
};

/** The workflow of an answer. */
export const workflowIn = (session: Session, body: unknown): FoundWorkflow => {
  const { data } = isFields(body) ? body : {};
  const { id, active, owner_id: ownerId, managed_by: managedBy, revision, definition } = isFields(data) ? data : {};
  if (
    typeof id === 'string' &&
    typeof active === 'boolean' &&
    typeof ownerId === 'string' &&
    (typeof managedBy === 'string' || managedBy === null) &&
    typeof revision === 'number' &&
    isFields(definition)
  )
    return { id, active, ownerId, managedBy, revision, definition };
  throw session.unexpected('a workflow');
};
