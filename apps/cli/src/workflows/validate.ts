import { type Command } from 'commander';
import {
  type FileFault,
  faultLine,
  FolderError,
  readWorkflows,
  type ReadWorkflows,
} from '#libs/workflow-files/index.js';
import { failed, finish, type Outcome } from './outcome.js';

export interface ValidateOptions {
  readonly strict?: boolean;
  readonly json?: boolean;
}

export const registerValidate = (workflows: Command): void => {
  workflows
    .command('validate')
    .description(
      'Checks the workflows in a folder and in the folders below it, without a server. Components, sources, accounts ' +
        'and variables are not looked for, and code is not built. Ends with 6 when a workflow has errors.',
    )
    .argument('<dir>', 'folder with workflows')
    .option('--strict', 'take warnings for errors')
    .option('--json', 'print JSON')
    .action(async (dir: string, options: ValidateOptions) => {
      finish(await validated(dir, options));
    });
};

export const validated = async (dir: string, { strict = false, json = false }: ValidateOptions): Promise<Outcome> => {
  let read: ReadWorkflows;
  try {
    read = await readWorkflows(dir, strict);
  } catch (error) {
    if (error instanceof FolderError) return failed({ exit: 2, code: 'usage', message: error.message }, json);
    throw error;
  }
  const { workflows, faults, warnings } = read;
  const warned = warnings.map((each) => faultLine(each, 'warning: '));
  if (faults.length > 0)
    return failed(
      {
        exit: 6,
        code: 'invalid_definition',
        message: `${numberOf(faults)} in the workflows of ${dir}`,
        details: { errors: faults },
        lines: [...warned, ...faults.map((each) => faultLine(each))],
      },
      json,
    );
  if (workflows.length === 0) {
    const message = `${dir} has no workflow: none of workflow.yaml, workflow.yml and workflow.json is in it or in a folder below it`;
    return failed({ exit: 2, code: 'usage', message }, json);
  }
  const data = workflows.map(({ file, id = null, externalId }) => ({ file, id, external_id: externalId }));
  if (json)
    return { exit: 0, out: [JSON.stringify({ data, ...(warnings.length === 0 ? {} : { warnings }) })], err: [] };
  return { exit: 0, out: workflows.map(({ file }) => `${file}: valid`), err: warned };
};

const numberOf = ({ length }: readonly FileFault[]): string => (length === 1 ? '1 error' : `${length} errors`);
