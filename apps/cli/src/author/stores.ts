import { type Command } from 'commander';
import { wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { type Fields, fieldText, jsonLine, textOf } from './json.js';
import { jsonArgument } from './json-argument.js';
import { addListOptions } from './list.js';
import { oneNamed } from './names.js';
import { type ListOptions, readList } from './pages.js';
import { type Session } from './session.js';
import { spanMs } from './span.js';
import { secondIn, table } from './text.js';

interface SetOptions {
  readonly ttl?: string;
}

export const registerStores = (program: Command): void => {
  const stores = program
    .command('stores')
    .description('Makes and deletes data stores, and reads and writes their records. `sluice list stores` lists them.');
  const sub = (name: string, description: string): Command => stores.command(name).description(description);
  const ofStore = (name: string, description: string): Command =>
    sub(name, description).argument('<store>', 'id or name');
  authorCommand(sub('create', 'Makes a data store.').argument('<name>', 'its name, unique in the workspace'), create);
  authorCommand(
    ofStore('delete', 'Deletes a data store with its records, after a question or with --yes.'),
    removeStore,
  );
  authorCommand<ListOptions>(addListOptions(ofStore('records', 'Lists the records of a data store.')), records);
  authorCommand(ofStore('get', 'Prints the value of a record as JSON.').argument('<key>', 'key of the record'), get);
  authorCommand<SetOptions>(
    ofStore('set', 'Writes a record.')
      .argument('<key>', 'key of the record')
      .argument('<json>', 'its value: JSON, @FILE, or - for standard input')
      .option('--ttl <time>', 'time until the record ends, such as 30s or 1h (default: it has no end)'),
    set,
  );
  authorCommand(ofStore('unset', 'Deletes a record.').argument('<key>', 'key of the record'), unset);
};

const storeNamed = (session: Session, name: string): Promise<Fields> =>
  oneNamed(session, name, {
    id: /^ds_\w+$/,
    one: (id) => `/v1/data_stores/${id}`,
    all: () => '/v1/data_stores',
    what: 'data store',
    list: 'stores',
  });

const create = async (context: Context, [name = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const { data } = await session.request({ method: 'POST', path: '/v1/data_stores', body: { name } });
  return { data, lines: [`data store ${fieldText(data, 'id')}`] };
};

const removeStore = async (context: Context, [name = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const store = await storeNamed(session, name);
  const id = fieldText(store, 'id');
  await confirmed(context, `Delete data store ${id} (${fieldText(store, 'name')}) with its records?`);
  await session.request({ method: 'DELETE', path: `/v1/data_stores/${id}` });
  return { data: { id, deleted: true }, lines: [`data store ${id}: deleted`] };
};

const records = async (context: Context, [name = '']: readonly string[], options: ListOptions): Promise<Told> => {
  const session = await context.session();
  const path = `/v1/data_stores/${fieldText(await storeNamed(session, name), 'id')}/records`;
  const { items, pageInfo, hints } = await readList(session, path, { ...options, hasShortPages: true });
  const rows = items.map(({ key, expires_at: expiresAt, value }) => [
    textOf(key),
    secondIn(expiresAt, context.look, 'never'),
    jsonLine(value),
  ]);
  return { data: items, pageInfo, lines: table(['KEY', 'EXPIRES', 'VALUE'], rows, context.look), hints };
};

const recordPath = async (session: Session, name: string, key: string): Promise<string> => {
  // A dot alone in a path means another one, and what is between decodes no escape of it.
  if (key === '' || /^\.{1,2}$/.test(key)) throw wrongUsage('the key of a record must be a text other than . and ..');
  return `/v1/data_stores/${fieldText(await storeNamed(session, name), 'id')}/records/${encodeURIComponent(key)}`;
};

const get = async (context: Context, [name = '', key = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const { data } = await session.request({ method: 'GET', path: await recordPath(session, name, key) });
  return { data, lines: [jsonLine((data as Fields)['value'])] };
};

const set = async (
  context: Context,
  [name = '', key = '', given = '']: readonly string[],
  { ttl }: SetOptions,
): Promise<Told> => {
  const end = ttl === undefined ? '' : `,"ttl":${Math.ceil(spanMs('--ttl', ttl) / 1_000)}`;
  const json = `{"value":${await jsonArgument(context, 'the value', given)}${end}}`;
  const session = await context.session();
  const { data } = await session.request({ method: 'PUT', path: await recordPath(session, name, key), json });
  return { data, lines: [`${key}: written`] };
};

const unset = async (context: Context, [name = '', key = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  await session.request({ method: 'DELETE', path: await recordPath(session, name, key) });
  return { data: { key, deleted: true }, lines: [`${key}: deleted`] };
};
