import { type Command } from 'commander';
import { comparable, unifiedDiff } from '#libs/workflow-files/index.js';
import { type Globals } from '../author/globals.js';
import { findWorkflow } from './find-workflow.js';
import { finish, type Outcome, outcomeOf } from './outcome.js';
import { type Given, givenHere, serverOf } from './server.js';
import { validFolder, warningLines, warningsBeside } from './valid-folder.js';

export interface DiffOptions extends Globals {
  readonly strict?: boolean;
}

export const registerDiff = (workflows: Command): void => {
  workflows
    .command('diff')
    .description(
      'Compares the workflows in a folder with those of a server, as a unified diff of YAML. Changes nothing. Ends ' +
        'with 1 when one differs or is new.',
    )
    .argument('<dir>', 'folder with workflows')
    .option('--strict', 'take warnings for errors')
    .action(async (dir: string, options: DiffOptions) => {
      finish(await compared(dir, options));
    });
};

export const compared = (
  dir: string,
  { strict = false, json = false, url, profile, workspace }: DiffOptions,
  given: Given = givenHere,
): Promise<Outcome> =>
  outcomeOf(json, async () => {
    const { workflows, warnings } = await validFolder(dir, strict);
    const server = serverOf(given, { url, profile });
    const data: { readonly file: string; readonly id: string | null; readonly state: string; readonly text: string }[] =
      [];
    for (const workflow of workflows) {
      const found = await findWorkflow(server, workflow, workspace);
      const { here, there } = comparable(workflow, found);
      const name = found ? `${found.id} on the server` : '/dev/null';
      const text = await unifiedDiff({ name, text: there }, { name: workflow.file, text: here });
      const state = found === undefined ? 'new' : text === '' ? 'same' : 'differs';
      data.push({ file: workflow.file, id: found?.id ?? null, state, text });
    }
    const exit = data.every(({ state }) => state === 'same') ? 0 : 1;
    if (json) return { exit, out: [JSON.stringify({ data, ...warningsBeside(warnings) })], err: [] };
    const texts = data.flatMap(({ text }) => (text === '' ? [] : [text.replace(/\n$/, '')]));
    return { exit, out: texts, err: warningLines(warnings) };
  });
