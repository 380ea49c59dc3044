import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { saveFiles } from './components.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { filesOfComponent } from './files-of-component.js';
import { fieldText, isFields } from './json.js';
import { withQuery } from './session.js';

interface PublishOptions {
  readonly root?: string;
}

export const registerPublish = (program: Command): void => {
  authorCommand<PublishOptions>(
    program
      .command('publish')
      .description('Saves a component with what it imports by relative paths, so that it can be deployed by its key.')
      .argument('<file>', 'the file that exports it')
      .option('--root <folder>', 'folder whose files may be imported (default: the nearest with package.json or .git)'),
    publish,
  );
};

export const registerUnpublish = (program: Command): void => {
  authorCommand(
    program
      .command('unpublish')
      .description('Deletes a component that no source uses, after a question or with --yes.')
      .argument('<component...>', 'its key or sc_…; the word "component" may stand before it'),
    unpublish,
  );
};

const publish = async (context: Context, [file = '']: readonly string[], { root }: PublishOptions): Promise<Told> => {
  const files = await filesOfComponent(file, root);
  const { id, fields, warnings } = await saveFiles(await context.session(), files);
  const [key, version] = [fieldText(fields, 'key'), fieldText(fields, 'version')];
  const named = [key || fieldText(fields, 'name'), version].filter((part) => part !== '').join(' ');
  return { data: fields, warnings, lines: [[{ text: named, as: 'strong' }, ` (${id}): saved`]] };
};

const unpublish = async (context: Context, words: readonly string[]): Promise<Told> => {
  const [what, ...others] = words[0] === 'component' && words.length > 1 ? words.slice(1) : words;
  if (what === undefined || others.length > 0) throw wrongUsage('name one component, by its key or sc_…');
  const session = await context.session();
  const path = withQuery(`/v1/components/${encodeURIComponent(what)}`, { exclude: 'code' });
  const { data } = await session.request({ method: 'GET', path });
  const id = fieldText(isFields(data) ? data : {}, 'id');
  const shown = `${fieldText(data, 'key') || fieldText(data, 'name')} (${id})`;
  await confirmed(context, `Delete component ${shown}?`);
  await session.request({ method: 'DELETE', path: `/v1/components/${id}` });
  return { data: { id, deleted: true }, lines: [`${shown}: deleted`] };
};
