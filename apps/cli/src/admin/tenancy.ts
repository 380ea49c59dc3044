import { type Command } from 'commander';
import { type Engines } from '#libs/composition/engines.js';
import { holdings, makeUpcasters } from '#libs/composition/contexts.js';
import { type Config } from '#libs/config/index.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { commandHandler, type HandleCommand } from '#libs/kernel/handle-command.js';
import { KeyRegister, WorkspaceContents, type WorkspaceRegister } from '#libs/tenancy/index.js';
import { requireOption } from '../usage.js';
import { withEngines } from '../with-engines.js';

/** Users, workspaces and keys of an installation, with the handler of their commands. */
export interface Tenancy {
  readonly engines: Engines;
  readonly config: Config;
  readonly register: KeyRegister;
  readonly workspaces: WorkspaceRegister;
  readonly contents: WorkspaceContents;
  readonly handleCommand: HandleCommand;
  readonly clock: Clock;
}

/** Reads the log once, and does the work of one command. */
export const withTenancy = (work: (tenancy: Tenancy) => Promise<void> | void): Promise<void> =>
  withEngines(async (engines, config) => {
    const upcasters = makeUpcasters();
    const contents = new WorkspaceContents(holdings);
    const register = await KeyRegister.read(engines.events, upcasters, [contents]);
    const handleCommand = commandHandler({ store: engines.events, upcasters });
    const { workspaces } = register;
    await work({ engines, config, register, workspaces, contents, handleCommand, clock: engines.clock });
  });

/** Names the option whose value was refused. */
export const inOption = async <T>(option: string, use: () => T | Promise<T>): Promise<T> => {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new Error(`${option}: ${error.message}`, { cause: error });
  }
};

export interface Output {
  readonly json?: boolean;
}

export const withJson = (command: Command): Command =>
  command.option('--json', 'print JSON, for scripts, instead of text');

export const requireWorkspace = (command: Command): Command =>
  requireOption(command, '--workspace <workspace>', 'id (o_…) or name of the workspace');

export const requireUser = (command: Command, flags: string): Command =>
  requireOption(command, flags, 'email address, username or id (u_…) of a user');
