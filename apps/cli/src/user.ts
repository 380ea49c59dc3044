import { type Command } from 'commander';
import { startControlPlane } from '#libs/assembly/control-plane.js';
import { systemClock } from '#libs/kernel/clock.js';
import { setUpUser } from '#libs/tenancy/index.js';
import { withEngines } from './with-engines.js';

export const registerUser = (program: Command): void => {
  program
    .command('user')
    .description('Adds a user with a workspace of their own and prints their API key. The server must be stopped.')
    .argument('<username>')
    .requiredOption('--email <address>', 'address of the user')
    .option('--workspace <name>', 'name of the workspace', 'My workspace')
    .action((username: string, { email, workspace }: { email: string; workspace: string }) =>
      withEngines(async (engines) => {
        const fail = (error: Error): never => {
          throw error;
        };
        const plane = await startControlPlane(engines, systemClock, fail);
        try {
          const { handleCommand, views, clock } = plane;
          const keysInHand = (userId: string): number => views.callers.keysInHand(userId);
          const made = await setUpUser(
            { handleCommand, clock, keysInHand },
            { username, email, workspaceName: workspace },
          );
          process.stdout.write(`user ${made.userId}, workspace ${made.workspaceId}\n`);
          if (made.key.status !== 'made') {
            process.stdout.write('The user was there before, with a key: issue another one with POST /v1/api_keys.\n');
            return;
          }
          process.stdout.write(`API key, shown this once: ${made.key.secret}\n`);
          await made.key.handedOver();
        } finally {
          await plane.projectors.stop();
        }
      }),
    );
};
