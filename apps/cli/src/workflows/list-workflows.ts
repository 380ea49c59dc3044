import { WORKFLOW_ID } from '#libs/workflow-files/index.js';
import { type Fields } from '../author/json.js';
import { readList } from '../author/pages.js';
import { type Session } from '../author/session.js';

export interface ListedWorkflow {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly managedBy: string | null;
  readonly revision: number;
  /** False for one that has a draft only. */
  readonly isDeployed: boolean;
}

/** All workflows of the named workspace, or of all that the key may see. Newest first. */
export const listWorkflows = async (session: Session): Promise<readonly ListedWorkflow[]> => {
  const { items } = await readList(session, '/v1/workflows', { all: true });
  return items.map((each) => listedIn(session, each));
};

const listedIn = (session: Session, item: Fields): ListedWorkflow => {
  const { id, name, owner_id: ownerId, managed_by: managedBy, revision, version } = item;
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
  throw session.unexpected('a list of workflows');
};
