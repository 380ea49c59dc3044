import { type Command } from 'commander';
import { configReference, describeConfig, loadConfig, SETTINGS } from '#libs/config/index.js';
import { heapAtStart, isInherited } from '#libs/hosting/heap-flag.js';

export const registerConfig = (program: Command): void => {
  program
    .command('config')
    .description('Lists every setting with the value in force; secrets are not shown.')
    .option('--reference', 'print the page docs/reference/config.md instead')
    .action(({ reference }: { reference?: boolean }) => {
      if (reference) {
        process.stdout.write(configReference());
        return;
      }
      const config = loadConfig(process.env, (text) => process.stderr.write(`${text}\n`));
      const heap = SETTINGS.heapMb.name;
      for (const { name, value, isDefault, sentence } of describeConfig(config)) {
        const shown = name === heap ? heapAtStart(config.heapMb, isInherited(heap)) : value;
        process.stdout.write(`${name}=${shown}${isDefault && name !== heap ? '  (default)' : ''}\n    ${sentence}\n`);
      }
    });
};
