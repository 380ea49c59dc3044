import { existsSync } from 'node:fs';
import { type Command } from 'commander';
import { comparable, faultLine, type FileFault, placedAt, type WorkflowInFolder } from '#libs/workflow-files/index.js';
import { contextOf } from '../author/context.js';
import { type Globals } from '../author/globals.js';
import { harmless } from '../author/text.js';
import { ask } from './api.js';
import { mapAtOnce, READS_AT_ONCE } from './at-once.js';
import { checkOnServer, faultsIn, warningsIn } from './check-on-server.js';
import { CommandFailure, wrongUsage } from './failure.js';
import { type ListedWorkflow } from './list-workflows.js';
import { type Confirm, deleteAll, managerOf, mustAgree, nameOf, superfluousOf } from './prune.js';
import { findWorkflow, type FoundWorkflow, inWorkspace, workflowIn } from './find-workflow.js';
import { finish, type Outcome, outcomeOf } from './outcome.js';
import { type Given, givenHere, type Server, serverOf } from './server.js';
import { actOnChanges } from './watch.js';
import { invalidWorkflows, validFolder, warningLines, warningsBeside } from './valid-folder.js';

export interface ApplyOptions extends Globals {
  readonly strict?: boolean;
  readonly set?: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  /** Tells only what changed, with `json` an object a line, because the command goes on. */
  readonly watch?: boolean;
}

export const registerApply = (workflows: Command): void => {
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
    .option('--strict', 'take warnings for errors')
    .action(async (dir: string, options: ApplyOptions) => {
      if (options.watch === true && existsSync(dir)) await applyOnChanges(dir, options);
      else finish(await applied(dir, options));
    });
};

const applyOnChanges = async (dir: string, options: ApplyOptions): Promise<void> => {
  if (options.prune === true && options.yes !== true) {
    const message = '--watch asks nothing: add --yes to --prune';
    return finish(await outcomeOf(options.json === true, () => Promise.reject(wrongUsage(message))));
  }
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  if (options.json !== true) process.stderr.write(`watching ${harmless(dir)}; Ctrl-C ends it\n`);
  const act = async (): Promise<Outcome> => {
    const outcome = await applied(dir, options);
    finish(outcome);
    return outcome;
  };
  await actOnChanges(dir, act, { signal: ended.signal });
  process.exitCode = 0;
};

type State = 'created' | 'updated' | 'unchanged';

interface Applied {
  readonly file: string;
  readonly id: string | null;
  readonly state: State;
}

interface Done {
  readonly done: readonly Applied[];
  /** Of the deployments, such as of accounts that only the build of the code finds. */
  readonly warnings?: readonly FileFault[];
  readonly deleted?: readonly ListedWorkflow[];
  readonly failure?: CommandFailure | undefined;
}

interface Pair {
  readonly workflow: WorkflowInFolder;
  readonly found: FoundWorkflow | undefined;
  readonly state: State;
}

/** Undefined where the command must not or cannot ask. */
const confirmHere = (options: ApplyOptions): Confirm | undefined => {
  const { prompts } = contextOf(options);
  return prompts && ((question) => prompts.confirm(question));
};

export const applied = (
  dir: string,
  options: ApplyOptions,
  given: Given = givenHere,
  confirm: Confirm | undefined = confirmHere(options),
): Promise<Outcome> => {
  const { strict = false, json = false, workspace, dryRun = false, set = 'default', prune = false } = options;
  const how = { json, dryRun, watch: options.watch === true };
  return outcomeOf(json, async () => {
    if (!SET.test(set)) throw wrongSet(set);
    const folder = await validFolder(dir, strict);
    const server = serverOf(given, options);
    const pairs = await mapAtOnce(folder.workflows, READS_AT_ONCE, async (workflow) =>
      compared(workflow, await findWorkflow(server, workflow, workspace), set),
    );
    const warnings = [...folder.warnings, ...(await checkedAll(server, dir, pairs, { strict, workspace }))];
    const found = pairs.flatMap((each) => each.found ?? []);
    const superfluous = prune ? await superfluousOf(server, { set, workspace, found }) : [];
    if (dryRun) return told({ done: pairs.map(appliedOf), deleted: superfluous, warnings: distinct(warnings), ...how });
    await mustAgree(dir, superfluous, { yes: options.yes === true, confirm });
    const body = { managed_by: managerOf(set), ...(strict ? { strict } : {}) };
    const put = await putAll(server, pairs, body, workspace);
    // A failure may be that the folder is not what its author meant.
    const pruned = put.failure ? {} : await deleteAll(server, superfluous);
    return told({ ...put, ...pruned, warnings: distinct([...warnings, ...(put.warnings ?? [])]), ...how });
  });
};

const appliedOf = ({ workflow: { file }, found, state }: Pair): Applied => ({ file, id: found?.id ?? null, state });

/** `managed_by` has at most 255 characters. */
const SET = /^[A-Za-z0-9._/-]{1,200}$/;

const wrongSet = (set: string): CommandFailure =>
  new CommandFailure({
    exit: 2,
    code: 'usage',
    message: `--set must be 1 to 200 of A-Za-z0-9._/-; got ${JSON.stringify(set.slice(0, 100))}`,
  });

const compared = (workflow: WorkflowInFolder, found: FoundWorkflow | undefined, set: string): Pair => {
  if (found === undefined) return { workflow, found, state: 'created' };
  const { here, there } = comparable(workflow, found);
  const isSame = here === there && found.managedBy === managerOf(set);
  return { workflow, found, state: isSame ? 'unchanged' : 'updated' };
};

/** Checks what would change before anything does. Resolves with the warnings. */
const checkedAll = async (
  server: Server,
  dir: string,
  pairs: readonly Pair[],
  options: { readonly strict: boolean; readonly workspace: string | undefined },
): Promise<readonly FileFault[]> => {
  const faults: FileFault[] = [];
  const warnings: FileFault[] = [];
  for (const { workflow, found, state } of pairs) {
    if (state === 'unchanged') continue;
    const checked = await checkOnServer(server, workflow, found, options);
    faults.push(...checked.faults);
    warnings.push(...checked.warnings);
  }
  if (faults.length > 0) throw invalidWorkflows(dir, faults, warnings);
  return warnings;
};

/** Ends with the first failure. What was done before it stays. */
const putAll = async (
  server: Server,
  pairs: readonly Pair[],
  beside: Readonly<Record<string, unknown>>,
  workspace: string | undefined,
): Promise<Done> => {
  const done: Applied[] = [];
  const warnings: FileFault[] = [];
  for (const { workflow, found } of pairs) {
    const name = found?.id ?? `ext:${workflow.externalId}`;
    const path = `/v1/workflows/${encodeURIComponent(name)}${inWorkspace(workspace)}`;
    try {
      // Also what seems to be equal, because a secret may have changed.
      const answer = await ask(server, { method: 'PUT', path, body: { ...workflow.definition, ...beside } });
      const { id, revision } = workflowIn(server, answer);
      const state = found === undefined ? 'created' : found.revision === revision ? 'unchanged' : 'updated';
      done.push({ file: workflow.file, id, state });
      if (state !== 'unchanged') warnings.push(...placedAt(workflow, warningsIn(answer)));
    } catch (error) {
      if (error instanceof CommandFailure) return { done, warnings, failure: inFile(workflow, error) };
      throw error;
    }
  }
  return { done, warnings };
};

/** A deployment repeats what the check before it told. */
const distinct = (warnings: readonly FileFault[]): readonly FileFault[] => [
  ...new Map(warnings.map((each) => [faultLine(each), each])).values(),
];

/** Errors in the definition, such as of its code, are told at their places. */
const inFile = (workflow: WorkflowInFolder, failure: CommandFailure): CommandFailure => {
  const { exit, code, status, details, message } = failure;
  const errors = code === 'invalid_definition' ? placedAt(workflow, faultsIn(failure)) : [];
  if (errors.length === 0)
    return new CommandFailure({ exit, code, status, details, message: `${workflow.file}: ${message}` });
  const lines = errors.map((each) => faultLine(each));
  return new CommandFailure({
    exit,
    code,
    status,
    lines,
    details: { errors },
    message: `${workflow.file} was refused`,
  });
};

interface ToTell extends Done {
  readonly warnings: readonly FileFault[];
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly watch: boolean;
}

const told = ({ done: all, deleted = [], failure, warnings, json, dryRun, watch }: ToTell): Outcome => {
  if (failure && all.length === 0) throw failure;
  const exit = failure?.exit ?? 0;
  const done = watch ? all.filter(({ state }) => state !== 'unchanged') : all;
  const failed = failure && { error: failure.message, code: failure.code, status: failure.status };
  const err = failure ? [...failure.lines, `sluice: ${failure.message}. Nothing after it was done.`] : [];
  if (json) {
    const data = [...done, ...deleted.map(({ id }) => ({ file: null, id, state: 'deleted' }))];
    if (watch)
      return { exit, out: data.map((each) => JSON.stringify(each)), err: failed ? [JSON.stringify(failed)] : [] };
    const document = { data, ...warningsBeside(warnings), ...(failed ? { failed } : {}) };
    return { exit, out: [JSON.stringify(document)], err: [] };
  }
  const would = dryRun ? 'would be ' : '';
  return {
    exit,
    out: [
      ...done.map(({ file, state }) => `${file}: ${would}${state}`),
      ...deleted.map((each) => `${nameOf(each)}: ${would}deleted`),
    ],
    err: [...warningLines(warnings), ...err],
  };
};
