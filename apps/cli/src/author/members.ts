import { Option, type Command } from 'commander';
import { CommandFailure } from './failure.js';
import { authorCommand, type Told } from './command.js';
import { confirmed } from './confirm.js';
import { type Context } from './context.js';
import { type Fields, fieldText, isFields, objectsIn } from './json.js';
import { type Session } from './session.js';
import { table } from './text.js';

interface AddOptions {
  readonly role: string;
}

const ROLES = ['owner', 'member', 'read_only'];
const WHO = 'their email address, user name or u_…';

export const registerMembers = (program: Command): void => {
  const members = program.command('members').description('Lists, adds and removes members of the workspace.');
  authorCommand(members.command('list', { isDefault: true }).description('Lists the members and their roles.'), list);
  authorCommand<AddOptions>(
    members
      .command('add')
      .description('Adds a user of the server to the workspace.')
      .argument('<user>', WHO)
      .addOption(new Option('--role <role>', 'what they may do').choices(ROLES).default('member')),
    add,
  );
  authorCommand(
    members
      .command('remove')
      .description('Removes a member, after a question or with --yes. What they made stays.')
      .argument('<user>', WHO),
    remove,
  );
};

const list = async (context: Context): Promise<Told> => {
  const all = await membersOf(await context.session());
  const rows = all.map((member) => ['username', 'email', 'role', 'user_id'].map((field) => fieldText(member, field)));
  return { data: all, lines: table(['NAME', 'EMAIL', 'ROLE', 'ID'], rows, context.look) };
};

const add = async (context: Context, [user = '']: readonly string[], { role }: AddOptions): Promise<Told> => {
  const session = await context.session();
  const path = `/v1/workspaces/${await session.workspaceId()}/members`;
  const { data } = await session.request({ method: 'POST', path, body: { ...named(user), role } });
  return { data, lines: [`${shown(isFields(data) ? data : {})}: ${role}`] };
};

const remove = async (context: Context, [user = '']: readonly string[]): Promise<Told> => {
  const session = await context.session();
  const found = (await membersOf(session)).find((member) => isNamed(member, user));
  if (found === undefined) throw noMember(user);
  await confirmed(context, `Remove ${shown(found)} from the workspace? Their keys no longer open it.`);
  const id = fieldText(found, 'user_id');
  const path = `/v1/workspaces/${await session.workspaceId()}/members/${id}`;
  await session.request({ method: 'DELETE', path });
  return { data: { user_id: id, removed: true }, lines: [`${shown(found)}: removed`] };
};

const membersOf = async (session: Session): Promise<readonly Fields[]> => {
  const path = `/v1/workspaces/${await session.workspaceId()}/members`;
  const { data } = await session.request({ method: 'GET', path });
  return objectsIn(data);
};

/** Parameter that names the user. */
const named = (user: string): Fields =>
  user.includes('@') ? { email: user } : /^u_\w+$/.test(user) ? { user_id: user } : { username: user };

const isNamed = (member: Fields, user: string): boolean =>
  fieldText(member, 'email').toLowerCase() === user.toLowerCase() ||
  [fieldText(member, 'user_id'), fieldText(member, 'username')].includes(user);

const shown = (member: Fields): string => `${fieldText(member, 'username')} (${fieldText(member, 'email')})`;

const noMember = (user: string): CommandFailure =>
  new CommandFailure({
    exit: 4,
    code: 'member_not_found',
    status: 404,
    message: `no member is called ${JSON.stringify(user.slice(0, 100))}. "sluice members" shows all.`,
    next: 'sluice members',
  });
