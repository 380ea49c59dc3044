import { type Command } from 'commander';
import { isMissing, wrongUsage } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { collect } from './globals.js';
import { exactLine, exactly, type Fields, fieldText, isFields } from './json.js';
import { jsonArgument } from './json-argument.js';
import { oneNamed } from './names.js';
import { namedValues, propSources } from './props.js';
import { type Session } from './session.js';

interface Options {
  readonly name?: string;
  readonly field?: readonly string[];
  readonly oauth?: string;
}

export const registerAccounts = (program: Command): void => {
  const accounts = program
    .command('accounts')
    .description('Connects, changes and deletes accounts of apps. `sluice list accounts` lists them.');
  authorCommand<Options>(
    withFields(accounts.command('create').description('Connects an account.')).argument('<app>', 'slug of the app'),
    create,
  );
  authorCommand<Options>(
    withFields(
      accounts
        .command('update')
        .description('Changes an account: what is not given stays. The fields are replaced as a whole.'),
    ).argument('<account>', 'id or name'),
    update,
  );
  authorCommand(
    accounts
      .command('delete')
      .description('Deletes an account with its credentials, after a question or with --yes.')
      .argument('<account>', 'id or name'),
    remove,
  );
};

const withFields = (command: Command): Command =>
  command
    .option('--name <name>', 'name for people')
    .option(
      '--field <name=value>',
      'a field of $auth: name=text, name:=JSON, name=@FILE or name=env:VARIABLE; may be repeated. Other users of this ' +
        'computer see a text, and neither a file nor a variable',
      collect,
    )
    .option('--oauth <json>', 'how its token is refreshed: @FILE, - for standard input, or JSON');

const accountNamed = (session: Session, name: string): Promise<Fields> =>
  oneNamed(session, name, {
    id: /^apn_\w+$/,
    one: (id) => `/v1/accounts/${id}`,
    all: async () => `/v1/workspaces/${await session.workspaceId()}/accounts`,
    what: 'account',
    list: 'accounts',
  });

const create = async (context: Context, [app = '']: readonly string[], options: Options): Promise<Told> => {
  const json = exactLine({ app, credentials: {}, ...(await changesOf(context, options)) });
  const { data } = await (await context.session()).request({ method: 'POST', path: '/v1/accounts', json });
  return { data, lines: [`account ${fieldText(data, 'id')} of ${app}`] };
};

const update = async (context: Context, [name = '']: readonly string[], options: Options): Promise<Told> => {
  const changes = await changesOf(context, options);
  if (Object.keys(changes).length === 0) throw wrongUsage('nothing to change: give --name, --field or --oauth');
  const session = await context.session();
  const { id, revision } = await accountNamed(session, name);
  const { data } = await session.request({
    method: 'PUT',
    path: `/v1/accounts/${String(id)}`,
    json: exactLine(changes),
    ...(typeof revision === 'number' ? { revision } : {}),
  });
  return { data, lines: [`account ${String(id)}: updated`] };
};

const changesOf = async (context: Context, { name, field, oauth }: Options): Promise<Fields> => {
  const credentials = namedValues('--field', field ?? [], propSources(context.io.env, {}));
  return {
    ...(name === undefined ? {} : { name }),
    ...(field === undefined ? {} : { credentials }),
    ...(oauth === undefined ? {} : { oauth: oauthIn(await jsonArgument(context, '--oauth', oauth)) }),
  };
};

/** Null ends the refresh. */
const oauthIn = (json: string): unknown => {
  const oauth = exactly(json);
  if (oauth === null || isFields(oauth)) return oauth;
  throw wrongUsage('--oauth must be an object, or null');
};

const remove = async (context: Context, [name = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const account = await accountNamed(session, name);
  const id = fieldText(account, 'id');
  const app = isFields(account['app']) ? fieldText(account['app'], 'name_slug') : '';
  await confirmed(context, `Delete account ${id} of ${app}? Sources that use it go on without its credentials.`);
  try {
    await session.request({ method: 'DELETE', path: `/v1/accounts/${id}` });
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw error.withMessage(`account ${id} was deleted meanwhile`);
  }
  return { data: { id, deleted: true }, lines: [`account ${id}: deleted`] };
};
