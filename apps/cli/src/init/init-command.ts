import { type Command, Option } from 'commander';
import path from 'node:path';
import { authorCommand, type Told } from '../author/command.js';
import { wrongUsage } from '../author/failure.js';
import { projectFiles } from './project.js';
import { type Kind, newFiles, type NewFiles, TEMPLATES, type Wanted } from './templates.js';
import { writeFiles } from './write-files.js';

interface Options {
  readonly template?: string;
  readonly http?: boolean;
  readonly timer?: boolean;
  readonly db?: boolean;
  readonly ts?: boolean;
  readonly force?: boolean;
}

export const registerInit = (program: Command): void => {
  const init = program.command('init').description('Writes a new component with a test, or a project.');
  ofSource(init.command('source').description('Writes a source and a test that passes.').argument('<name>', NAMED));
  ofComponent(init, 'action');
  ofComponent(init, 'app');
  const project = init
    .command('project')
    .description('Writes package.json, tsconfig.json and .gitignore, and a source with a test.')
    .argument('[dir]', 'folder', '.');
  authorCommand<Options>(withOptions(project), (_, [dir = '.'], options) => made(() => newProject(dir, options)));
};

const NAMED = 'name of the component, and of its folder';

const withOptions = (command: Command): Command =>
  command
    .addOption(new Option('--template <name>', 'what the source is like').choices(TEMPLATES))
    .option('--ts', 'TypeScript')
    .option('--force', 'replace files that are there');

const ofSource = (command: Command): void => {
  withOptions(command)
    .option('--http', 'an endpoint')
    .option('--timer', 'a timer')
    .option('--db', 'values that are kept from run to run');
  authorCommand<Options>(command, (_, [name = ''], options) => made(() => newComponent('source', name, options)));
};

const ofComponent = (init: Command, kind: 'action' | 'app'): void => {
  const command = init
    .command(kind)
    .description(`Writes an ${kind} and a test that passes.`)
    .argument('<name>', NAMED)
    .option('--ts', 'TypeScript')
    .option('--force', 'replace files that are there');
  authorCommand<Options>(command, (_, [name = ''], options) => made(() => newComponent(kind, name, options)));
};

const made = async (write: () => Promise<readonly string[]>): Promise<Told> => {
  const files = await write();
  const test = files.find((file) => /\.test\.\w+$/.test(file));
  return {
    data: { files },
    lines: files.map((file) => `wrote ${file}`),
    hints: test === undefined ? [] : [`Run its test: sluice test ${path.dirname(test)}`],
  };
};

const newComponent = async (kind: Kind, name: string, options: Options): Promise<readonly string[]> => {
  checkName(name);
  const files = inFolder(name, newFiles(wantedOf(kind, name, options)));
  return writeFiles('.', files, options.force === true);
};

const newProject = async (dir: string, options: Options): Promise<readonly string[]> => {
  const name = options.template ?? 'hello';
  const component = newFiles(wantedOf('source', name, options));
  const files = { ...projectFiles(path.basename(path.resolve(dir))), ...inFolder(name, component) };
  return writeFiles(dir, files, options.force === true);
};

const inFolder = (folder: string, files: NewFiles): NewFiles =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));

const wantedOf = (kind: Kind, name: string, options: Options): Wanted => {
  const { template, http = false, timer = false, db = false, ts = false } = options;
  const hasParts = http || timer || db;
  if (hasParts && template !== undefined) throw wrongUsage('--template takes none of --http, --timer and --db');
  const parts = hasParts ? { http, timer, db } : undefined;
  return { kind, name, template: template ?? 'hello', parts, isTypeScript: ts };
};

/** The name becomes a folder, files and a key. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

const checkName = (name: string): void => {
  if (!NAME.test(name))
    throw wrongUsage(`${JSON.stringify(name.slice(0, 80))} is no name: use up to 64 letters, digits, "-" and "_"`);
};
