import { type Command } from 'commander';
import { type WorkflowInFolder } from '#libs/workflow-files/index.js';
import { authorCommand, type Told } from '../author/command.js';
import { type Context } from '../author/context.js';
import { type Session } from '../author/session.js';
import { mapAtOnce, READS_AT_ONCE } from './at-once.js';
import { type CheckedOnServer, checkOnServer } from './check-on-server.js';
import { findWorkflow } from './find-workflow.js';
import { distinct, invalidWorkflows, validFolder, warned } from './valid-folder.js';

interface Options {
  readonly strict?: boolean;
  readonly server?: boolean;
}

export const registerValidate = (workflows: Command): void => {
  authorCommand<Options>(
    workflows
      .command('validate')
      .description(
        'Checks the workflows in a folder and in the folders below it. Without --server, components, sources, accounts ' +
          'and variables are not looked for. Code is not built. Ends with 6 when a workflow has errors.',
      )
      .argument('<dir>', 'folder with workflows')
      .option('--server', 'let a server check them too, which changes nothing')
      .option('--strict', 'take warnings for errors'),
    validate,
  );
};

export const validate = async (
  context: Context,
  [dir = '']: readonly string[],
  { strict = false, server = false }: Options,
): Promise<Told> => {
  const { workflows, warnings: offline } = await validFolder(dir, strict);
  const there = server ? await checkedOnServer(await context.session(), workflows, strict) : undefined;
  // The server tells again what was found without it.
  const warnings = distinct([...offline, ...(there?.warnings ?? [])], ({ file, code, path }) => [file, code, path]);
  if (there && there.faults.length > 0) throw invalidWorkflows(dir, there.faults, warnings);
  return {
    data: workflows.map(({ file, id = null, externalId }) => ({ file, id, external_id: externalId })),
    lines: workflows.map(({ file }) => `${file}: valid`),
    ...warned(warnings),
  };
};

const checkedOnServer = async (
  session: Session,
  workflows: readonly WorkflowInFolder[],
  strict: boolean,
): Promise<CheckedOnServer> => {
  const checked = await mapAtOnce(workflows, READS_AT_ONCE, async (workflow) =>
    checkOnServer(session, workflow, await findWorkflow(session, workflow), strict),
  );
  return {
    faults: checked.flatMap(({ faults }) => faults),
    warnings: checked.flatMap(({ warnings }) => warnings),
  };
};
