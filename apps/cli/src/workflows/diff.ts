import { type Command } from 'commander';
import { unifiedDiff } from '#libs/workflow-files/index.js';
import { authorCommand, type Told } from '../author/command.js';
import { type Context } from '../author/context.js';
import { comparedThere } from './compared-there.js';
import { findWorkflow } from './find-workflow.js';
import { validFolder, warned } from './valid-folder.js';

interface Options {
  readonly strict?: boolean;
}

export const registerDiff = (workflows: Command): void => {
  authorCommand<Options>(
    workflows
      .command('diff')
      .description(
        'Compares the workflows in a folder with those of a server, as a unified diff of YAML. Changes nothing. Ends ' +
          'with 1 when one differs or is new.',
      )
      .argument('<dir>', 'folder with workflows')
      .option('--strict', 'take warnings for errors'),
    diff,
  );
};

interface Compared {
  readonly file: string;
  readonly id: string | null;
  readonly state: 'new' | 'same' | 'differs';
  readonly text: string;
}

export const diff = async (
  context: Context,
  [dir = '']: readonly string[],
  { strict = false }: Options,
): Promise<Told> => {
  const { workflows, warnings } = await validFolder(dir, strict);
  const session = await context.session();
  const data: Compared[] = [];
  for (const workflow of workflows) {
    const found = await findWorkflow(session, workflow);
    const { here, there } = await comparedThere(session, workflow, found);
    const name = found ? `${found.id} on the server` : '/dev/null';
    const text = await unifiedDiff({ name, text: there }, { name: workflow.file, text: here });
    const state = found === undefined ? 'new' : text === '' ? 'same' : 'differs';
    data.push({ file: workflow.file, id: found?.id ?? null, state, text });
  }
  return {
    data,
    lines: data.flatMap(({ text }) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))),
    ...warned(warnings),
    exit: data.every(({ state }) => state === 'same') ? 0 : 1,
  };
};
