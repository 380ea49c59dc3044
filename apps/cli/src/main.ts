import { Command } from 'commander';
import { messageOf } from '#libs/kernel/error-message.js';
import { registerConfig } from './config.js';
import { registerExport } from './export.js';
import { registerImport } from './import.js';
import { registerRebuild } from './rebuild.js';
import { registerUser } from './user.js';

const program = new Command('sluice')
  .description('Maintains an installation of Sluice. Settings are environment variables: see `sluice config`.')
  .showHelpAfterError();

for (const register of [registerConfig, registerExport, registerImport, registerRebuild, registerUser])
  register(program);
program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`sluice: ${messageOf(error)}\n`);
  process.exitCode = 1;
});
