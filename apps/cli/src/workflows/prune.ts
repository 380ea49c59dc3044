import { readMe } from '../author/session.js';
import { harmlessJson } from '../author/text.js';
import { ask } from './api.js';
import { CommandFailure } from './failure.js';
import { type FoundWorkflow } from './find-workflow.js';
import { type ListedWorkflow, listWorkflows } from './list-workflows.js';
import { type Server } from './server.js';

/** Puts a question to the person at the terminal. Resolves with whether the answer is yes. */
export type Confirm = (question: string) => Promise<boolean>;

/** `managed_by` of the workflows of a set. */
export const managerOf = (set: string): string => `files:${set}`;

export interface Folder {
  readonly set: string;
  readonly workspace: string | undefined;
  /** The workflows that the folder has, of those that are on the server. */
  readonly found: readonly FoundWorkflow[];
}

/** The workflows of a set that the folder lacks. Those of another set, of nobody and of another workspace are none. */
export const superfluousOf = async (
  server: Server,
  { set, workspace, found }: Folder,
): Promise<readonly ListedWorkflow[]> => {
  const owner = workspace ?? (await ownerOf(server, found));
  const kept = new Set(found.map(({ id }) => id));
  const listed = await listWorkflows(server, owner);
  return listed.filter(
    ({ id, managedBy, ownerId }) => managedBy === managerOf(set) && ownerId === owner && !kept.has(id),
  );
};

/** The only workspace that can be meant. Another one may have a set of the same name. */
const ownerOf = async (server: Server, found: readonly FoundWorkflow[]): Promise<string> => {
  const owners = new Set(found.map(({ ownerId }) => ownerId));
  const [only, ...others] = owners.size > 0 ? owners : (await readMe(server)).workspaces.map(({ id }) => id);
  if (only !== undefined && others.length === 0) return only;
  throw new CommandFailure({
    exit: 2,
    code: 'usage',
    message: 'name the workspace with --workspace: --prune deletes in one only, and more than one can be meant',
  });
};

/** Rejects with CommandFailure when nobody agrees to the deletion. */
export const mustAgree = async (
  dir: string,
  superfluous: readonly ListedWorkflow[],
  { yes, confirm }: { readonly yes: boolean; readonly confirm: Confirm | undefined },
): Promise<void> => {
  if (superfluous.length === 0 || yes) return;
  const count = superfluous.length === 1 ? '1 workflow' : `${superfluous.length} workflows`;
  const lines = superfluous.map((each) => `${nameOf(each)}: ${dir} lacks it`);
  if (confirm === undefined)
    throw new CommandFailure({
      exit: 2,
      code: 'usage',
      details: { superfluous: superfluous.map(({ id, name }) => ({ id, name })) },
      lines,
      message: `--prune would delete ${count}, and nobody can be asked here: add --yes. Nothing was changed`,
    });
  if (await confirm(`${lines.join('\n')}\nDelete ${count} with all runs?`)) return;
  throw new CommandFailure({ exit: 2, code: 'usage', message: 'not confirmed. Nothing was changed' });
};

/** Users choose names, so a line of output shows them without what a terminal would obey. */
export const nameOf = ({ id, name }: Pick<ListedWorkflow, 'id' | 'name'>): string =>
  `${id} ${harmlessJson(JSON.stringify(name))}`;

/** Deletes in turn, and ends with the first failure. */
export const deleteAll = async (
  server: Server,
  superfluous: readonly ListedWorkflow[],
): Promise<{ readonly deleted: readonly ListedWorkflow[]; readonly failure?: CommandFailure }> => {
  const deleted: ListedWorkflow[] = [];
  for (const each of superfluous) {
    try {
      // One that was changed since is kept, because it may be of another set now.
      await ask(server, { method: 'DELETE', path: `/v1/workflows/${each.id}`, revision: each.revision });
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      const { exit, code, status, details, message } = error;
      if (code !== 'workflow_not_found')
        return {
          deleted,
          failure: new CommandFailure({ exit, code, status, details, message: `${nameOf(each)}: ${message}` }),
        };
    }
    deleted.push(each);
  }
  return { deleted };
};
