import { confirmed } from '../author/confirm.js';
import { type Context } from '../author/context.js';
import { type Session } from '../author/session.js';
import { harmless } from '../author/text.js';
import { CommandFailure, wrongUsage } from '../author/failure.js';
import { type FoundWorkflow } from './find-workflow.js';
import { type ListedWorkflow, listWorkflows } from './list-workflows.js';

/** `managed_by` of the workflows of a set. */
export const managerOf = (set: string): string => `files:${set}`;

/**
 * The workflows of a set that the folder lacks. Those of another set, of nobody and of another workspace are none.
 * @param found the workflows that the folder has, of those that are on the server
 */
export const superfluousOf = async (
  session: Session,
  set: string,
  found: readonly FoundWorkflow[],
): Promise<readonly ListedWorkflow[]> => {
  const owner = (await session.namedWorkspace()) ?? (await ownerOf(session, found));
  const kept = new Set(found.map(({ id }) => id));
  const listed = await listWorkflows(session);
  return listed.filter(
    ({ id, managedBy, ownerId }) => managedBy === managerOf(set) && ownerId === owner && !kept.has(id),
  );
};

/** The only workspace that can be meant. Another one may have a set of the same name. */
const ownerOf = async (session: Session, found: readonly FoundWorkflow[]): Promise<string> => {
  const owners = new Set(found.map(({ ownerId }) => ownerId));
  const [only, ...others] = owners.size > 0 ? owners : (await session.me()).workspaces.map(({ id }) => id);
  if (only !== undefined && others.length === 0) return only;
  throw wrongUsage('name the workspace with --workspace: --prune deletes in one only, and more than one can be meant');
};

/** Rejects with CommandFailure when nobody agrees to the deletion. */
export const mustAgree = async (
  context: Context,
  dir: string,
  superfluous: readonly ListedWorkflow[],
): Promise<void> => {
  const { globals, io } = context;
  if (superfluous.length === 0 || globals.yes === true) return;
  if (globals.json !== true) for (const each of superfluous) io.err(harmless(`${nameOf(each)}: ${dir} lacks it`));
  const count = superfluous.length === 1 ? '1 workflow' : `${superfluous.length} workflows`;
  await confirmed(context, `Delete ${count} with all runs?`);
};

export const nameOf = ({ id, name }: Pick<ListedWorkflow, 'id' | 'name'>): string => `${id} ${JSON.stringify(name)}`;

/** Deletes in turn, and ends with the first failure. */
export const deleteAll = async (
  session: Session,
  superfluous: readonly ListedWorkflow[],
): Promise<{ readonly deleted: readonly ListedWorkflow[]; readonly failed?: CommandFailure }> => {
  const deleted: ListedWorkflow[] = [];
  for (const each of superfluous) {
    try {
      // One that was changed since is kept, because it may be of another set now.
      await session.request({ method: 'DELETE', path: `/v1/workflows/${each.id}`, revision: each.revision });
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      if (error.code !== 'workflow_not_found')
        return { deleted, failed: error.withMessage(`${nameOf(each)}: ${error.message}`) };
    }
    deleted.push(each);
  }
  return { deleted };
};
