import { type Command } from 'commander';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type KnownUser } from '#libs/tenancy/index.js';
import { tell } from '../progress.js';
import { requireOption } from '../usage.js';
import { addUser } from '../user.js';
import { withEngines } from '../with-engines.js';
import { isoOf, tellJson, tellTable } from './print.js';
import { inOption, type Output, type Tenancy, withJson, withTenancy } from './tenancy.js';

export const registerUsers = (admin: Command): void => {
  const user = admin.command('user').description('Makes and lists users.');
  const create = user
    .command('create')
    .description('Adds a user with a workspace of their own, and prints their API key this once.');
  requireOption(create, '--email <address>', 'email address of the user');
  withJson(create)
    .option('--username <name>', 'name of the user; default: what stands before the @')
    .option('--workspace <name>', 'name of the workspace', 'My workspace')
    .option('--create', 'embedded: make the installation, when SLUICE_DATA_DIR holds none')
    .action((options: CreateOptions) => createUser(options));
  withJson(user.command('list').description('Lists the users, with their workspaces and number of keys.')).action(
    ({ json }: Output) => withTenancy((tenancy) => listUsers(tenancy, json === true)),
  );
};

interface CreateOptions extends Output {
  readonly email: string;
  readonly username?: string;
  readonly workspace: string;
  readonly create?: boolean;
}

const createUser = ({ email, username, workspace, create = false, json }: CreateOptions): Promise<void> => {
  const user = { email, username: username ?? usernameFrom(email), workspaceName: workspace };
  const add = (): Promise<void> =>
    withEngines(
      (engines, config) =>
        addUser(engines, config, user, ({ userId, workspaceId, key }) => {
          if (key.status !== 'made') throw existsAlready(user);
          if (json) {
            tellJson({ id: userId, username: user.username, email, workspace_id: workspaceId, key: key.secret });
            return;
          }
          tell(`user ${userId} (${user.username}, ${email}), workspace ${workspaceId}`);
          tell(`API key, shown this once: ${key.secret}`);
        }),
      { create },
    );
  return refusedByOption(add);
};

/** Repeating an interrupted set-up continues it. Repeating a finished one changes nothing. */
const existsAlready = ({ username, email }: { readonly username: string; readonly email: string }): DomainError =>
  new DomainError(
    'user.already_exists',
    `${email} is the address of user ${username} already: give another address, or issue a further key with ` +
      `\`sluice admin key issue --user ${username}\``,
    { field: 'email' },
  );

const refusedByOption = async (add: () => Promise<void>): Promise<void> => {
  try {
    await add();
  } catch (error) {
    const field = error instanceof DomainError ? error.details?.['field'] : undefined;
    if (field !== 'email' && field !== 'username' && field !== 'workspace') throw error;
    await inOption(`--${field}`, () => Promise.reject(error as DomainError));
  }
};

/** Part of an address that may be a username. Without such a part the whole address is returned and refused by name. */
const usernameFrom = (email: string): string => {
  const [local = ''] = email.split('@');
  const plain = local.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 40);
  return plain.replaceAll(/^[._-]+|[._-]+$/g, '') || 'user';
};

const listUsers = ({ register, workspaces }: Tenancy, json: boolean): void => {
  const told = register.allUsers().map((user) => ({ user, of: workspaces.of(user.userId) }));
  const keysOf = ({ userId }: KnownUser): number => register.keysInForce(userId).length;
  if (json) {
    const replies = told.map(({ user, of }) => ({
      id: user.userId,
      username: user.username,
      email: user.email,
      registered_at: isoOf(user.registeredAt),
      keys: keysOf(user),
      workspaces: of.map(({ workspaceId, name, members }) => ({
        id: workspaceId,
        name,
        role: members.get(user.userId),
      })),
    }));
    tellJson(replies);
    return;
  }
  const rows = told.map(({ user, of }) => [
    user.userId,
    user.username,
    user.email,
    String(keysOf(user)),
    of.map(({ name, members }) => `${name} (${members.get(user.userId) ?? ''})`).join(', '),
  ]);
  tellTable(['ID', 'USERNAME', 'EMAIL', 'KEYS', 'WORKSPACES'], rows);
};
