import { type Command } from 'commander';
import { registerKeys } from './keys.js';
import { registerMembers } from './members.js';
import { registerUsers } from './users.js';
import { registerWorkspaces } from './workspaces.js';

export const registerAdmin = (program: Command): void => {
  const admin = program
    .command('admin')
    .description(
      'Manages users, workspaces, memberships and API keys, without an API key. Audit records name the actor ' +
        '`operator`. Embedded: the server must be stopped. Distributed: running processes may continue.',
    );
  for (const register of [registerUsers, registerWorkspaces, registerMembers, registerKeys]) register(admin);
};
