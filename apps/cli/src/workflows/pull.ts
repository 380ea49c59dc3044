import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { type Command } from 'commander';
import {
  fileThere,
  type FileToWrite,
  filesOfWorkflow,
  FolderError,
  folderNameOf,
  readWorkflows,
  type WorkflowInFolder,
  writeWhole,
} from '#libs/workflow-files/index.js';
import { authorCommand, type Told } from '../author/command.js';
import { type Context } from '../author/context.js';
import { type Session } from '../author/session.js';
import { mapAtOnce, READS_AT_ONCE } from './at-once.js';
import { comparedThere } from './compared-there.js';
import { CommandFailure, wrongUsage } from '../author/failure.js';
import { findById, type FoundWorkflow } from './find-workflow.js';
import { type ListedWorkflow, listWorkflows } from './list-workflows.js';
import { schemaToWrite } from './schema-to-write.js';

interface Options {
  readonly force?: boolean;
}

export const registerPull = (workflows: Command): void => {
  authorCommand<Options>(
    workflows
      .command('pull')
      .description(
        'Writes the deployed workflows of a server to a folder, each to a folder of its own, with its code. Secrets are ' +
          'written as ********. Nothing is written when a file that is there differs.',
      )
      .argument('<dir>', 'folder for the workflows')
      .option('--force', 'replace files that differ'),
    pull,
  );
};

export const pull = async (
  context: Context,
  [dir = '']: readonly string[],
  { force = false }: Options,
): Promise<Told> => {
  const here = await workflowsIn(dir);
  const session = await context.session();
  const { workflows, left } = await deployedOf(session);
  const known = new Set(workflows.map(({ id }) => id));
  // One after another, because each reads files.
  const planned = await mapAtOnce(workflows, 1, (workflow) =>
    planOf(session, dir, workflow, sameOf(workflow, here, known)),
  );
  mustNotDiffer(planned, force);
  for (const { files } of planned) for (const { file } of files) await orFail(() => writeWhole(dir, file));
  return told(planned, left);
};

/** The valid workflows that the folder has already. */
const workflowsIn = async (dir: string): Promise<readonly WorkflowInFolder[]> => {
  try {
    await lstat(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return (await orFail(() => readWorkflows(dir, false))).workflows;
};

const orFail = async <T>(act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof FolderError)) throw error;
    throw new CommandFailure({ exit: 1, code: 'folder', message: error.message });
  }
};

/** What is deployed, and what is left out because it has a draft only. */
const deployedOf = async (
  session: Session,
): Promise<{ readonly workflows: readonly FoundWorkflow[]; readonly left: readonly ListedWorkflow[] }> => {
  const listed = await listWorkflows(session);
  mustBeOneWorkspace(listed);
  const found = await mapAtOnce(
    listed.filter(({ isDeployed }) => isDeployed),
    READS_AT_ONCE,
    ({ id }) => findById(session, id),
  );
  return {
    // One may have been deleted since.
    workflows: found.filter((each) => each !== undefined),
    left: listed.filter(({ isDeployed }) => !isDeployed),
  };
};

const mustBeOneWorkspace = (listed: readonly ListedWorkflow[]): void => {
  const owners = [...new Set(listed.map(({ ownerId }) => ownerId))];
  if (owners.length <= 1) return;
  const some = owners.slice(0, 20).join(', ');
  throw wrongUsage(`there are workflows in several workspaces: name one of ${some} with --workspace`);
};

/** The folder that is this workflow (docs/reference/workflows.md#files-identity). */
const sameOf = (
  { id, definition }: FoundWorkflow,
  here: readonly WorkflowInFolder[],
  known: ReadonlySet<string>,
): WorkflowInFolder | undefined =>
  here.find((each) => each.id === id) ??
  here.find((each) => each.externalId === definition['external_id'] && (each.id === undefined || !known.has(each.id)));

interface Planned {
  readonly id: string;
  /** Path of the file with the definition. */
  readonly file: string;
  /** Those that are missing or differ, with paths below the named folder. */
  readonly files: readonly { readonly file: FileToWrite; readonly there: 'missing' | 'differs' }[];
  readonly differing: readonly string[];
}

const planOf = async (
  session: Session,
  dir: string,
  workflow: FoundWorkflow,
  here: WorkflowInFolder | undefined,
): Promise<Planned> => {
  const { id, definition } = workflow;
  const name = typeof definition['name'] === 'string' ? definition['name'] : '';
  const definitionFile = here === undefined ? 'workflow.yaml' : path.basename(here.file);
  const below = here === undefined ? folderNameOf({ id, name }) : path.relative(dir, path.dirname(here.file));
  const file = path.join(dir, below, definitionFile);
  // Its author may have written the same in other words.
  if (here !== undefined && (await isEqual(session, here, workflow))) return { id, file, files: [], differing: [] };
  const schema = await schemaToWrite(session, definition);
  const files: Planned['files'][number][] = [];
  for (const each of await filesOfWorkflow({ id, definition }, { definitionFile, schema })) {
    const placed = { ...each, path: path.posix.join(...below.split(path.sep), each.path) };
    const there = await orFail(() => fileThere(dir, placed));
    if (there !== 'same') files.push({ file: placed, there });
  }
  const differing = files.flatMap((each) => (each.there === 'differs' ? [path.join(dir, each.file.path)] : []));
  return { id, file, files, differing };
};

const isEqual = async (session: Session, here: WorkflowInFolder, workflow: FoundWorkflow): Promise<boolean> => {
  const texts = await comparedThere(session, here, workflow);
  return texts.here === texts.there;
};

const mustNotDiffer = (planned: readonly Planned[], force: boolean): void => {
  const files = planned.flatMap(({ differing }) => differing);
  if (force || files.length === 0) return;
  throw new CommandFailure({
    exit: 1,
    code: 'file_differs',
    details: { files },
    lines: files.map((file) => `${file}: differs from the server`),
    message: `nothing was written, because ${files.length === 1 ? '1 file differs' : `${files.length} files differ`}. Replace with --force.`,
  });
};

const told = (planned: readonly Planned[], left: readonly ListedWorkflow[]): Told => {
  const data = planned.map(({ id, file, files }) => ({
    file,
    id,
    state: files.length === 0 ? 'unchanged' : 'written',
  }));
  return {
    data,
    warnings: left.map(({ id, name }) => ({
      id,
      code: 'not_deployed',
      message: `${JSON.stringify(name)} (${id}) was never deployed, so it is left out`,
    })),
    lines: data.map(({ file, state }) => `${file}: ${state}`),
  };
};
