import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { fieldText, isFields, textOf } from './json.js';
import { addListOptions } from './list.js';
import { type ListOptions, readList } from './pages.js';
import { spanMs } from './span.js';
import { secondIn, table } from './text.js';

interface CreateOptions {
  readonly readOnly?: boolean;
  readonly expiresIn?: string;
}

export const registerKeys = (program: Command): void => {
  const keys = program
    .command('keys')
    .description('Lists, creates and revokes your own API keys, by the API. `sluice key` needs no API key.');
  authorCommand<ListOptions>(
    addListOptions(keys.command('list', { isDefault: true }).description('Lists the keys that are not revoked.')),
    list,
  );
  authorCommand<CreateOptions>(
    keys
      .command('create')
      .description('Creates a key, and prints it to standard output this once.')
      .argument('[name]', 'name of the key in lists')
      .option('--read-only', 'a key that may read, and change nothing')
      .option('--expires-in <time>', 'time until the key ends, such as 12h or 30d (default: it has no end)'),
    create,
  );
  authorCommand(
    keys
      .command('revoke')
      .description('Revokes a key, which no request can use from then on, after a question or with --yes.')
      .argument('<id>', 'key_…, as the list shows it'),
    revoke,
  );
};

const list = async (context: Context, _: readonly string[], options: ListOptions): Promise<Told> => {
  const { look } = context;
  const { items, pageInfo, hints } = await readList(await context.session(), '/v1/api_keys', options);
  const rows = items.map((key) => [
    textOf(key['name']),
    textOf(key['id']),
    key['read_only'] === true ? 'read-only' : 'full',
    secondIn(key['created_at'], look, 'never'),
    secondIn(key['expires_at'], look, 'never'),
  ]);
  return { data: items, pageInfo, lines: table(['NAME', 'ID', 'SCOPE', 'CREATED', 'EXPIRES'], rows, look), hints };
};

const create = async (
  context: Context,
  [name]: readonly string[],
  { readOnly = false, expiresIn }: CreateOptions,
): Promise<Told> => {
  const end =
    expiresIn === undefined ? {} : { expires_at: Math.ceil((Date.now() + spanMs('--expires-in', expiresIn)) / 1_000) };
  const body = { ...(name === undefined ? {} : { name }), ...(readOnly ? { read_only: true } : {}), ...end };
  const { data } = await (await context.session()).request({ method: 'POST', path: '/v1/api_keys', body });
  const key = fieldText(data, 'key');
  const id = fieldText(data, 'id');
  if (key === '' && isFields(data))
    return {
      data,
      lines: [],
      hints: [`key ${id} was created, and its text is lost: revoke it, and create another`],
      exit: 1,
    };
  return { data, lines: [key], hints: [`key ${id} (${fieldText(data, 'name')}), shown this once`] };
};

const revoke = async (context: Context, [id = '']: readonly string[]): Promise<Told> => {
  if (!/^key_\w+$/.test(id)) throw wrongUsage(`give the id of a key, key_…; got ${JSON.stringify(id.slice(0, 100))}`);
  await confirmed(context, `Revoke ${id}? Programs that use it are refused from then on.`);
  await (await context.session()).request({ method: 'DELETE', path: `/v1/api_keys/${id}` });
  return { data: { id, revoked: true }, lines: [`${id}: revoked`] };
};
