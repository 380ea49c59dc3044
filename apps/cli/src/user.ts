import { type Command } from 'commander';
import { followControlPlane } from '#libs/composition/control-plane.js';
import { type Engines } from '#libs/composition/engines.js';
import { checkIsolationHere } from '#libs/hosting/isolation.js';
import { type Config } from '#libs/config/index.js';
import { LEASE_MS } from '#libs/kernel/leases.js';
import { OPERATOR, setUpUser, type SetUpResult, type SetUpUser } from '#libs/tenancy/index.js';
import { tell } from './progress.js';
import { requireOption } from './usage.js';
import { withEngines } from './with-engines.js';

export const registerUser = (program: Command): void => {
  const command = program
    .command('user')
    .description(
      'Adds a user with a workspace of their own and prints their API key. Embedded: the server must be stopped. ' +
        'Distributed: running processes may continue.',
    )
    .argument('<username>');
  requireOption(command, '--email <address>', 'email address of the user')
    .option('--workspace <name>', 'name of the workspace', 'My workspace')
    .option('--create', 'embedded: make the installation, when SLUICE_DATA_DIR holds none')
    .action((username: string, { email, workspace, create = false }: UserOptions) =>
      withEngines(
        (engines, config) => {
          const user = { username, email, workspaceName: workspace };
          return addUser(engines, config, user, (made) => tellMade(made, username));
        },
        { create },
      ),
    );
};

interface UserOptions {
  readonly email: string;
  readonly workspace: string;
  readonly create?: boolean;
}

const tellMade = ({ userId, workspaceId, key }: SetUpResult, username: string): void => {
  tell(`user ${userId}, workspace ${workspaceId}`);
  if (key.status === 'made') tell(`API key, shown this once: ${key.secret}`);
  else tell(`The user exists already, with a key. \`sluice key issue --user ${username}\` issues another one.`);
};

/** Prints the created user with the key, which cannot be read again. May throw when none was created. */
type TellMade = (made: SetUpResult) => void;

export const addUser = (engines: Engines, config: Config, user: SetUpUser, tellMade: TellMade): Promise<void> =>
  underUserLease(engines, async () => {
    // The projector processes, or the server at its next start, update the read models. A log that the in-memory tables
    // cannot apply already rejects here.
    const plane = await followControlPlane(engines, engines.clock, () => undefined);
    try {
      const { handleCommand, views, clock } = plane;
      const { callers } = views;
      const isNew = !callers.usernamesOf(user.email).some((name) => name.toLowerCase() === user.username.toLowerCase());
      // The owner's workspace counts before the first start of a server creates it.
      if (isNew) await checkIsolationHere(config, Math.max(1, callers.workspaceCount()) + 1);
      const made = await setUpUser({ handleCommand, clock, callers, actor: OPERATOR }, user);
      tellMade(made);
      if (made.key.status === 'made') await made.key.handedOver();
    } finally {
      await plane.follower.stop();
    }
  });

/** Runs under the lease of user set-ups, so that commands that count workspaces run one after the other. */
export const underUserLease = async (engines: Engines, work: () => Promise<void>): Promise<void> => {
  const lease = await engines.leases.acquire('owner', AbortSignal.timeout(2 * LEASE_MS));
  if (!lease) throw new Error('another process is setting up a user: try again');
  try {
    await work();
  } finally {
    await lease.release();
  }
};
