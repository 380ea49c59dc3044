import { type Command } from 'commander';
import { type FileFault, type WorkflowInFolder } from '#libs/workflow-files/index.js';
import { type Globals } from '../author/globals.js';
import { mapAtOnce, READS_AT_ONCE } from './at-once.js';
import { type CheckedOnServer, checkOnServer } from './check-on-server.js';
import { findWorkflow } from './find-workflow.js';
import { finish, type Outcome, outcomeOf } from './outcome.js';
import { type Given, givenHere, serverOf } from './server.js';
import { invalidWorkflows, validFolder, warningLines, warningsBeside } from './valid-folder.js';

export interface ValidateOptions extends Globals {
  readonly strict?: boolean;
  readonly server?: boolean;
}

export const registerValidate = (workflows: Command): void => {
  workflows
    .command('validate')
    .description(
      'Checks the workflows in a folder and in the folders below it. Without --server, components, sources, accounts ' +
        'and variables are not looked for. Code is not built. Ends with 6 when a workflow has errors.',
    )
    .argument('<dir>', 'folder with workflows')
    .option('--server', 'let a server check them too, which changes nothing')
    .option('--strict', 'take warnings for errors')
    .action(async (dir: string, options: ValidateOptions) => {
      finish(await validated(dir, options));
    });
};

export const validated = (dir: string, options: ValidateOptions, given: Given = givenHere): Promise<Outcome> => {
  const { strict = false, json = false, server = false } = options;
  return outcomeOf(json, async () => {
    const { workflows, warnings: offline } = await validFolder(dir, strict);
    const there = server ? await checkedOnServer(workflows, options, given) : { faults: [], warnings: [] };
    const warnings = withoutRepeats([...offline, ...there.warnings]);
    if (there.faults.length > 0) throw invalidWorkflows(dir, there.faults, warnings);
    const data = workflows.map(({ file, id = null, externalId }) => ({ file, id, external_id: externalId }));
    if (json) return { exit: 0, out: [JSON.stringify({ data, ...warningsBeside(warnings) })], err: [] };
    return { exit: 0, out: workflows.map(({ file }) => `${file}: valid`), err: warningLines(warnings) };
  });
};

const checkedOnServer = async (
  workflows: readonly WorkflowInFolder[],
  { strict = false, url, profile, workspace }: ValidateOptions,
  given: Given,
): Promise<CheckedOnServer> => {
  const server = serverOf(given, { url, profile });
  const checked = await mapAtOnce(workflows, READS_AT_ONCE, async (workflow) =>
    checkOnServer(server, workflow, await findWorkflow(server, workflow, workspace), { strict, workspace }),
  );
  return {
    faults: checked.flatMap(({ faults }) => faults),
    warnings: checked.flatMap(({ warnings }) => warnings),
  };
};

/** The server tells again what was found without it. */
const withoutRepeats = (warnings: readonly FileFault[]): readonly FileFault[] => [
  ...new Map(warnings.map((each) => [`${each.file} ${each.code} ${each.path}`, each])).values(),
];
