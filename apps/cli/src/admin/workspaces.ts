import { type Command } from 'commander';
import { checkIsolationHere } from '#libs/hosting/isolation.js';
import { createWorkspaceFor, deleteWorkspace, type RegisteredWorkspace, renameWorkspace } from '#libs/tenancy/index.js';
import { tell } from '../progress.js';
import { assertStopped } from '../stopped.js';
import { requireOption } from '../usage.js';
import { underUserLease } from '../user.js';
import { isoOf, tellJson, tellTable } from './print.js';
import {
  inOption,
  type Output,
  requireUser,
  requireWorkspace,
  type Tenancy,
  withJson,
  withTenancy,
} from './tenancy.js';

export const registerWorkspaces = (admin: Command): void => {
  const workspace = admin.command('workspace').description('Makes, lists, renames and deletes workspaces.');
  const create = workspace.command('create').description('Makes a further workspace of a user, who becomes its owner.');
  requireOption(create, '--name <name>', 'name of the workspace');
  withJson(requireUser(create, '--owner <user>')).action((options: CreateOptions) =>
    withTenancy((tenancy) => createWorkspace(tenancy, options)),
  );
  withJson(workspace.command('list').description('Lists the workspaces, with their owners and members.'))
    .option('--without-owner', 'only those whose owners have all left: `sluice admin member` gives one')
    .action((options: ListOptions) => withTenancy((tenancy) => list(tenancy, options)));
  const rename = requireWorkspace(workspace.command('rename').description('Gives a workspace another name.'));
  withJson(requireOption(rename, '--name <name>', 'the new name')).action((options: RenameOptions) =>
    withTenancy((tenancy) => renameTo(tenancy, options)),
  );
  const remove = workspace
    .command('delete')
    .description(
      'Deletes a workspace without sources, webhooks, data stores, accounts and variables. Its members stay users. ' +
        'All servers must be stopped, on the distributed engines too.',
    );
  withJson(requireWorkspace(remove)).action((options: OfWorkspace) => withTenancy((tenancy) => drop(tenancy, options)));
};

interface ListOptions extends Output {
  readonly withoutOwner?: boolean;
}
interface CreateOptions extends Output {
  readonly name: string;
  readonly owner: string;
}
interface OfWorkspace extends Output {
  readonly workspace: string;
}
interface RenameOptions extends OfWorkspace {
  readonly name: string;
}

const createWorkspace = async (tenancy: Tenancy, { name, owner, json }: CreateOptions): Promise<void> => {
  const user = await inOption('--owner', () => tenancy.register.find(owner));
  await underUserLease(tenancy.engines, async () => {
    // A server would not start with more workspaces than its isolation separates.
    await checkIsolationHere(tenancy.config, tenancy.workspaces.all().length + 1);
    const id = await inOption('--name', () => createWorkspaceFor(tenancy, user, name));
    if (json) tellJson({ id, name, owner_id: user.userId });
    else tell(`workspace ${id}, owned by ${user.username}`);
  });
};

const renameTo = async (tenancy: Tenancy, { workspace, name, json }: RenameOptions): Promise<void> => {
  const { workspaceId: id } = await inOption('--workspace', () => tenancy.workspaces.find(workspace));
  const isChanged = await inOption('--name', () => renameWorkspace(tenancy, id, name));
  if (json) tellJson({ id, name });
  else tell(`workspace ${id} ${isChanged ? 'is renamed' : 'has that name already'}`);
};

const drop = async (tenancy: Tenancy, { workspace, json }: OfWorkspace): Promise<void> => {
  // A running process could add a resource between the check and the end of the workspace.
  await assertStopped(tenancy.engines, tenancy.config);
  const { workspaceId: id, name } = await inOption('--workspace', () => tenancy.workspaces.find(workspace));
  const held = tenancy.contents.of(id);
  if (held !== undefined)
    throw new Error(`--workspace: ${id} (${name}) holds ${held}: delete them first, with an API key of a member`);
  await deleteWorkspace(tenancy, id);
  if (json) tellJson({ id, deleted: true });
  else tell(`workspace ${id} is deleted`);
};

const list = ({ register, workspaces }: Tenancy, { withoutOwner, json }: ListOptions): void => {
  const all = withoutOwner ? workspaces.withoutOwner() : workspaces.all();
  if (json) {
    tellJson(
      all.map(({ workspaceId, name, createdAt, members }) => ({
        id: workspaceId,
        name,
        created_at: isoOf(createdAt),
        members: [...members].map(([userId, role]) => ({ user_id: userId, role })),
      })),
    );
    return;
  }
  const ownersOf = ({ members }: RegisteredWorkspace): string =>
    [...members]
      .filter(([, role]) => role === 'owner')
      .map(([userId]) => register.user(userId)?.username ?? userId)
      .join(', ');
  const rows = all.map((each) => [each.workspaceId, each.name, ownersOf(each), String(each.members.size)]);
  tellTable(['ID', 'NAME', 'OWNERS', 'MEMBERS'], rows);
};
