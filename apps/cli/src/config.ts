import { type Command } from 'commander';
import { configReference, describeConfig, loadConfig } from '#libs/config/index.js';

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
      for (const { name, value, isDefault, sentence } of describeConfig(config)) {
        process.stdout.write(`${name}=${value}${isDefault ? '  (default)' : ''}\n    ${sentence}\n`);
      }
    });
};
