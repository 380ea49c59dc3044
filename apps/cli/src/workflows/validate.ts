import { type Command } from 'commander';
import { finish, type Outcome, outcomeOf } from './outcome.js';
import { validFolder, warningLines, warningsBeside } from './valid-folder.js';

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
    .action(async (dir: string, options: ValidateOptions) => {
      finish(await validated(dir, options));
    });
};

export const validated = (dir: string, { strict = false, json = false }: ValidateOptions): Promise<Outcome> =>
  outcomeOf(json, async () => {
    const { workflows, warnings } = await validFolder(dir, strict);
    const data = workflows.map(({ file, id = null, externalId }) => ({ file, id, external_id: externalId }));
    if (json) return { exit: 0, out: [JSON.stringify({ data, ...warningsBeside(warnings) })], err: [] };
    return { exit: 0, out: workflows.map(({ file }) => `${file}: valid`), err: warningLines(warnings) };
  });
