import { type Command, Option } from 'commander';
import { changeMemberOf, type KnownUser, type MemberChange, type RegisteredWorkspace } from '#libs/tenancy/index.js';
import { type Role, ROLES } from '#libs/tenancy/published.js';
import { tell } from '../progress.js';
import { requireGiven } from '../usage.js';
import { tellJson, tellTable } from './print.js';
import {
  inOption,
  type Output,
  requireUser,
  requireWorkspace,
  type Tenancy,
  withJson,
  withTenancy,
} from './tenancy.js';

const ROLE = 'what the member may do';

export const registerMembers = (admin: Command): void => {
  const member = admin
    .command('member')
    .description('Adds and removes members of workspaces, and changes their roles.');
  const of = (command: Command): Command => withJson(requireUser(requireWorkspace(command), '--email <user>'));
  of(member.command('add').description('Makes a user a member of a workspace.'))
    .addOption(new Option('--role <role>', ROLE).choices(ROLES).default('member'))
    .action((options: MemberOptions) => change(options, 'is a member', ({ role }) => ({ type: 'add_member', role })));
  requireGiven(
    of(member.command('change').description('Gives a member another role.')),
    new Option('--role <role>', ROLE).choices(ROLES),
  ).action((options: MemberOptions) =>
    change(options, 'has another role', ({ role }) => ({ type: 'change_role', role })),
  );
  of(
    member.command('remove').description('Ends the membership of a user, who loses what only that workspace shows.'),
  ).action((options: MemberOptions) => change(options, 'is no member any more', () => ({ type: 'remove_member' })));
  withJson(requireWorkspace(member.command('list').description('Lists the members of a workspace.'))).action(
    ({ workspace, json }: Pick<MemberOptions, 'workspace' | 'json'>) =>
      withTenancy(async (tenancy) => {
        const found = await inOption('--workspace', () => tenancy.workspaces.find(workspace));
        list(tenancy, found, json === true);
      }),
  );
};

interface MemberOptions extends Output {
  readonly workspace: string;
  readonly email: string;
  readonly role: Role;
}

const change = (
  options: MemberOptions,
  outcome: string,
  toChange: (options: MemberOptions) => MemberChange,
): Promise<void> =>
  withTenancy(async (tenancy) => {
    const found = await inOption('--workspace', () => tenancy.workspaces.find(options.workspace));
    const user = await inOption('--email', () => tenancy.register.find(options.email));
    const wanted = toChange(options);
    const isChanged = await inOption('--email', () => changeMemberOf(tenancy, found, user.userId, wanted));
    tellChanged(options, { found, user, wanted, outcome: isChanged ? outcome : 'is unchanged' });
  });

interface Outcome {
  readonly found: RegisteredWorkspace;
  readonly user: KnownUser;
  readonly wanted: MemberChange;
  readonly outcome: string;
}

const tellChanged = ({ json }: Output, { found, user, wanted, outcome }: Outcome): void => {
  const role = 'role' in wanted ? wanted.role : null;
  if (json) tellJson({ workspace_id: found.workspaceId, user_id: user.userId, username: user.username, role });
  else tell(`${user.username} (${user.userId}) ${outcome} of workspace ${found.workspaceId}${role ? `: ${role}` : ''}`);
};

const list = ({ register }: Tenancy, { members }: RegisteredWorkspace, json: boolean): void => {
  const found = [...members].map(([userId, role]) => ({ userId, role, user: register.user(userId) }));
  if (json) {
    tellJson(
      found.map(({ userId, role, user }) => ({
        user_id: userId,
        username: user?.username ?? null,
        email: user?.email ?? null,
        role,
      })),
    );
    return;
  }
  const rows = found.map(({ userId, role, user }) => [userId, user?.username ?? '', user?.email ?? '', role]);
  tellTable(['ID', 'USERNAME', 'EMAIL', 'ROLE'], rows);
};
