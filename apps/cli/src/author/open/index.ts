import { type Command } from 'commander';
import { authorCommand, type Told } from '../command.js';
import { type Context } from '../context.js';
import { described } from '../describe.js';
import { fieldText } from '../json.js';
import { consoleAddress } from './console-address.js';
import { openInBrowser } from './open-in-browser.js';

export const registerOpen = (program: Command): void => {
  authorCommand(
    program
      .command('open')
      .description('Prints the address of the console, and opens it where the output is a terminal.')
      .argument('[what]', 'a source, webhook or workflow, by id or name (default: the first page)'),
    open,
  );
};

const open = async (context: Context, [what]: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const id = what === undefined ? undefined : fieldText(await described(session, what), 'id');
  const url = consoleAddress(session, id);
  openInBrowser(context, url);
  return { data: { url }, lines: [url] };
};
