import { type WorkflowInFolder, type WorkflowOnServer } from '#libs/workflow-files/index.js';
import { ask } from './api.js';
import { CommandFailure } from './failure.js';
import { type Server } from './server.js';

/** The workflow that a folder is, or undefined when the server has none (docs/reference/workflows.md#files-identity). */
export const findWorkflow = async (
  server: Server,
  { id, externalId }: Pick<WorkflowInFolder, 'id' | 'externalId'>,
  workspaceId: string | undefined,
): Promise<WorkflowOnServer | undefined> => {
  const byId = id === undefined ? undefined : await read(server, id, workspaceId);
  if (byId !== undefined && (workspaceId === undefined || byId.ownerId === workspaceId)) return byId;
  return read(server, `ext:${externalId}`, workspaceId);
};

const read = async (
  server: Server,
  name: string,
  workspaceId: string | undefined,
): Promise<(WorkflowOnServer & { readonly ownerId: string }) | undefined> => {
  const query = workspaceId === undefined ? '' : `?workspace_id=${encodeURIComponent(workspaceId)}`;
  try {
    const body = await ask(server, { method: 'GET', path: `/v1/workflows/${encodeURIComponent(name)}${query}` });
    const { id, active, owner_id: ownerId, definition } = (body as { readonly data: Record<string, unknown> }).data;
    if (typeof id === 'string' && typeof active === 'boolean' && typeof ownerId === 'string' && isObject(definition))
      return { id, active, ownerId, definition };
  } catch (error) {
    if (error instanceof CommandFailure && error.code === 'workflow_not_found') return undefined;
    throw error;
  }
  throw new CommandFailure({
    exit: 1,
    code: 'unexpected_answer',
    message: `${server.url} did not answer with a workflow: check the address and the version of the server`,
  });
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
