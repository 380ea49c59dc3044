import { WORKFLOW_ID } from '#libs/workflow-files/index.js';
import { type Fields, isFields } from '../author/json.js';
import { ask } from './api.js';
import { CommandFailure } from './failure.js';
import { type Server } from './server.js';

export interface ListedWorkflow {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly managedBy: string | null;
  readonly revision: number;
  /** False for one that has a draft only. */
  readonly isDeployed: boolean;
}

const PAGE = 100;
/** Far more than a user can have. A server that is none of Sluice's may never end. */
const MAX_PAGES = 1_000;

/** All workflows of the named workspace, or of all that the key may see. Newest first. */
export const listWorkflows = async (
  server: Server,
  workspaceId: string | undefined,
): Promise<readonly ListedWorkflow[]> => {
  const listed = new Map<string, ListedWorkflow>();
  const within = workspaceId === undefined ? '' : `&workspace_id=${encodeURIComponent(workspaceId)}`;
  let after = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const path = `/v1/workflows?limit=${PAGE}${within}${after}`;
    const { data, page_info: info } = fieldsOf(await ask(server, { method: 'GET', path }));
    if (!Array.isArray(data)) throw unexpected(server);
    for (const each of data as readonly unknown[]) {
      const workflow = listedIn(server, each);
      listed.set(workflow.id, workflow);
    }
    const { end_cursor: cursor } = fieldsOf(info);
    if (data.length < PAGE || typeof cursor !== 'string') return [...listed.values()];
    after = `&after=${encodeURIComponent(cursor)}`;
  }
  throw unexpected(server);
};

const listedIn = (server: Server, value: unknown): ListedWorkflow => {
  const { id, name, owner_id: ownerId, managed_by: managedBy, revision, version } = fieldsOf(value);
  if (
    typeof id === 'string' &&
    // It becomes part of names of folders.
    WORKFLOW_ID.test(id) &&
    typeof name === 'string' &&
    typeof ownerId === 'string' &&
    (typeof managedBy === 'string' || managedBy === null) &&
    typeof revision === 'number'
  )
    return { id, name, ownerId, managedBy, revision, isDeployed: typeof version === 'number' };
  throw unexpected(server);
};

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

const unexpected = ({ url }: Server): CommandFailure =>
  new CommandFailure({
    exit: 1,
    code: 'unexpected_answer',
    message: `${url} did not answer with a list of workflows: check the address and the version of the server`,
  });
