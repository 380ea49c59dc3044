import { type WorkflowInFolder, type WorkflowOnServer } from '#libs/workflow-files/index.js';
import { isFields } from '../author/json.js';
import { ask } from './api.js';
import { CommandFailure } from './failure.js';
import { type Server } from './server.js';

export interface FoundWorkflow extends WorkflowOnServer {
  readonly ownerId: string;
  readonly managedBy: string | null;
  /** Another one after each change. */
  readonly revision: number;
}

/** The workflow that a folder is, or undefined when the server has none (docs/reference/workflows.md#files-identity). */
export const findWorkflow = async (
  server: Server,
  { id, externalId }: Pick<WorkflowInFolder, 'id' | 'externalId'>,
  workspaceId: string | undefined,
): Promise<FoundWorkflow | undefined> => {
  const byId = id === undefined ? undefined : await findById(server, id, workspaceId);
  return byId ?? read(server, `ext:${externalId}`, workspaceId);
};

/** The workflow with this id, or undefined when the server, or the named workspace, has none. */
export const findById = async (
  server: Server,
  id: string,
  workspaceId: string | undefined,
): Promise<FoundWorkflow | undefined> => {
  const found = await read(server, id, workspaceId);
  return found !== undefined && (workspaceId === undefined || found.ownerId === workspaceId) ? found : undefined;
};

/** Query of a request that names a workspace, if one is named. */
export const inWorkspace = (workspaceId: string | undefined): string =>
  workspaceId === undefined ? '' : `?workspace_id=${encodeURIComponent(workspaceId)}`;

const read = async (
  server: Server,
  name: string,
  workspaceId: string | undefined,
): Promise<FoundWorkflow | undefined> => {
  const path = `/v1/workflows/${encodeURIComponent(name)}${inWorkspace(workspaceId)}`;
  try {
    return workflowIn(server, await ask(server, { method: 'GET', path }));
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'workflow_not_found') return undefined;
    throw error;
  }
};

/** The workflow of an answer. */
export const workflowIn = (server: Server, body: unknown): FoundWorkflow => {
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
  throw new CommandFailure({
    exit: 1,
    code: 'unexpected_answer',
    message: `${server.url} did not answer with a workflow: check the address and the version of the server`,
  });
};
