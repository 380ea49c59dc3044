import { Command } from 'commander';
import { operatorProblem } from '#libs/hosting/start-problem.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { maskSecrets } from '#libs/kernel/mask-secrets.js';
import { registerAdmin } from './admin/index.js';
import { registerConfig } from './config.js';
import { registerExport } from './export.js';
import { registerImport } from './import.js';
import { registerKey } from './key.js';
import { registerRebuild } from './rebuild.js';
import { registerRegistry } from './registry.js';
import { registerRotateKey } from './rotate-key.js';
import { showHintAfterError } from './usage.js';
import { registerUser } from './user.js';
import { registerVerify } from './verify.js';
import { registerWorkflows } from './workflows/index.js';
import { version } from '#libs/hosting/version.js';

// A reader like \`head\` may close the pipe early, which is no failure of the command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const program = new Command('sluice')
  .version(version())
  .description('Maintains an installation of Sluice. Settings are environment variables: see `sluice config`.');

const commands = [
  registerAdmin,
  registerConfig,
  registerExport,
  registerImport,
  registerKey,
  registerRebuild,
  registerRegistry,
  registerRotateKey,
  registerUser,
  registerVerify,
  registerWorkflows,
];
for (const register of commands) register(program);
showHintAfterError(program);
program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`sluice: ${maskSecrets(operatorProblem(error) ?? messageOf(error))}\n`);
  process.exitCode = 1;
});
