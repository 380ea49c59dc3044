import { existsSync } from 'node:fs';
import { type Command } from 'commander';
import { faultLine, type FileFault, placedAt, type WorkflowInFolder } from '#libs/workflow-files/index.js';
import { authorCommand, carriedOut, type Told } from '../author/command.js';
import { type Context } from '../author/context.js';
import { jsonLine } from '../author/json.js';
import { type Session } from '../author/session.js';
import { harmless } from '../author/text.js';
import { untilStopped } from '../author/until-stopped.js';
import { mapAtOnce, READS_AT_ONCE } from './at-once.js';
import { checkOnServer, faultsIn, warningsIn } from './check-on-server.js';
import { comparedThere } from './compared-there.js';
import { CommandFailure, wrongUsage } from '../author/failure.js';
import { findWorkflow, type FoundWorkflow, workflowIn } from './find-workflow.js';
import { type ListedWorkflow } from './list-workflows.js';
import { deleteAll, managerOf, mustAgree, nameOf, superfluousOf } from './prune.js';
import { distinct, invalidWorkflows, validFolder, warned } from './valid-folder.js';
import { actOnChanges } from './watch.js';

interface Options {
  readonly strict?: boolean;
  readonly set?: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly watch?: boolean;
}

export const registerApply = (workflows: Command): void => {
  authorCommand<Options>(
    workflows
      .command('apply')
      .description(
        'Deploys the workflows in a folder to a server: all of them, or none when one has errors. Workflows that the ' +
          'folder lacks stay, unless --prune deletes those of its set. Writes no file.',
      )
      .argument('<dir>', 'folder with workflows')
      .option('--dry-run', 'tell what would be done, and do nothing')
      .option('--set <name>', 'name of the set of workflows, for managed_by', 'default')
      .option('--prune', 'delete the workflows of the set that the folder lacks, after a question')
      .option('--watch', 'apply again after each change of the folder, until Ctrl-C')
      .option('--strict', 'take warnings for errors'),
    async (context, [dir = ''], options) =>
      options.watch === true && existsSync(dir) ? watched(context, dir, options) : apply(context, [dir], options),
  );
};

/** Tells only what changed, with `--json` an object a line, because it goes on. */
const watched = async (context: Context, dir: string, options: Options): Promise<Told> => {
  const { globals, io } = context;
  if (options.prune === true && globals.yes !== true) throw wrongUsage('--watch asks nothing: add --yes to --prune');
  const { signal } = untilStopped();
  if (globals.json !== true) io.err(`watching ${harmless(dir)}; Ctrl-C ends it`);
  const changed = async (): Promise<Told> => {
    const told = await apply(context, [dir], options);
    if (globals.json === true) for (const each of told.data) io.out(jsonLine(each));
    return { ...told, streamed: globals.json === true };
  };
  await actOnChanges(dir, () => carriedOut(context, changed), { signal });
  return { data: null, lines: [], streamed: true };
};

type State = 'created' | 'updated' | 'unchanged';

interface Applied {
  readonly file: string;
  readonly id: string | null;
  readonly state: State;
}

interface Done {
  readonly done: readonly Applied[];
  /** Also of the deployments, such as of accounts that only the build of the code finds. */
  readonly warnings: readonly FileFault[];
  readonly deleted?: readonly ListedWorkflow[];
  readonly failed?: CommandFailure;
}

interface Pair {
  readonly workflow: WorkflowInFolder;
  readonly found: FoundWorkflow | undefined;
  readonly state: State;
}

export const apply = async (
  context: Context,
  [dir = '']: readonly string[],
  options: Options,
): Promise<Told & { readonly data: readonly object[] }> => {
  const { strict = false, dryRun = false, set = 'default', prune = false, watch = false } = options;
  if (!SET.test(set))
    throw wrongUsage(`--set must be 1 to 200 of A-Za-z0-9._/-; got ${JSON.stringify(set.slice(0, 100))}`);
  const folder = await validFolder(dir, strict);
  const session = await context.session();
  const pairs = await mapAtOnce(folder.workflows, READS_AT_ONCE, (workflow) => compared(session, workflow, set));
  const warnings = [...folder.warnings, ...(await checkedAll(session, dir, pairs, strict))];
  const found = pairs.flatMap((each) => each.found ?? []);
  const superfluous = prune ? await superfluousOf(session, set, found) : [];
  if (dryRun) return told({ done: pairs.map(appliedOf), deleted: superfluous, warnings }, { dryRun, watch });
  await mustAgree(context, dir, superfluous);
  const put = await putAll(session, pairs, { managed_by: managerOf(set), ...(strict ? { strict } : {}) });
  // A failure may be that the folder is not what its author meant.
  const pruned = put.failed ? {} : await deleteAll(session, superfluous);
  return told({ ...put, ...pruned, warnings: [...warnings, ...put.warnings] }, { dryRun, watch });
};

const appliedOf = ({ workflow: { file }, found, state }: Pair): Applied => ({ file, id: found?.id ?? null, state });

/** `managed_by` has at most 255 characters. */
const SET = /^[A-Za-z0-9._/-]{1,200}$/;

const compared = async (session: Session, workflow: WorkflowInFolder, set: string): Promise<Pair> => {
  const found = await findWorkflow(session, workflow);
  if (found === undefined) return { workflow, found, state: 'created' };
  const { here, there } = await comparedThere(session, workflow, found);
  const isSame = here === there && found.managedBy === managerOf(set);
  return { workflow, found, state: isSame ? 'unchanged' : 'updated' };
};

/** Checks what would change before anything does. Resolves with the warnings. */
const checkedAll = async (
  session: Session,
  dir: string,
  pairs: readonly Pair[],
  strict: boolean,
): Promise<readonly FileFault[]> => {
  const faults: FileFault[] = [];
  const warnings: FileFault[] = [];
  for (const { workflow, found, state } of pairs) {
    if (state === 'unchanged') continue;
    const checked = await checkOnServer(session, workflow, found, strict);
    faults.push(...checked.faults);
    warnings.push(...checked.warnings);
  }
  if (faults.length > 0) throw invalidWorkflows(dir, faults, warnings);
  return warnings;
};

/** Ends with the first failure. What was done before it stays. */
const putAll = async (
  session: Session,
  pairs: readonly Pair[],
  beside: Readonly<Record<string, unknown>>,
): Promise<Done> => {
  const done: Applied[] = [];
  const warnings: FileFault[] = [];
  for (const { workflow, found } of pairs) {
    const path = `/v1/workflows/${encodeURIComponent(found?.id ?? `ext:${workflow.externalId}`)}`;
    try {
      // Also what seems to be equal, because a secret may have changed.
      const answer = await session.plain({ method: 'PUT', path, body: { ...workflow.definition, ...beside } });
      const { id, revision } = workflowIn(session, answer);
      const state = found === undefined ? 'created' : found.revision === revision ? 'unchanged' : 'updated';
      done.push({ file: workflow.file, id, state });
      if (state !== 'unchanged') warnings.push(...placedAt(workflow, warningsIn(answer)));
    } catch (error) {
      if (error instanceof CommandFailure) return { done, warnings, failed: inFile(workflow, error) };
      throw error;
    }
  }
  return { done, warnings };
};

/** Errors in the definition, such as of its code, are told at their places. */
const inFile = (workflow: WorkflowInFolder, failure: CommandFailure): CommandFailure => {
  const { exit, code, status, message } = failure;
  const errors = code === 'invalid_definition' ? placedAt(workflow, faultsIn(failure)) : [];
  if (errors.length === 0) return failure.withMessage(`${workflow.file}: ${message}`);
  return new CommandFailure({
    exit,
    code,
    status,
    lines: errors.map((each) => faultLine(each)),
    details: { errors },
    message: `${workflow.file} was refused`,
  });
};

const told = (
  { done: all, deleted = [], failed, warnings }: Done,
  { dryRun, watch }: { readonly dryRun: boolean; readonly watch: boolean },
): Told & { readonly data: readonly object[] } => {
  if (failed && all.length === 0) throw failed;
  const done = watch ? all.filter(({ state }) => state !== 'unchanged') : all;
  const would = dryRun ? 'would be ' : '';
  return {
    data: [...done, ...deleted.map(({ id }) => ({ file: null, id, state: 'deleted' }))],
    lines: [
      ...done.map(({ file, state }) => `${file}: ${would}${state}`),
      ...deleted.map((each) => `${nameOf(each)}: ${would}deleted`),
    ],
    // A deployment repeats what the check before it told.
    ...warned(distinct(warnings, (each) => faultLine(each))),
    failed,
  };
};
