import { script } from '@bomb.sh/tab';
import { Argument, type Command } from 'commander';
import { BASH } from './bash.js';

export const registerCompletion = (program: Command): void => {
  program
    .command('completion')
    .description(
      'Prints a script with which a shell completes commands, options, and names of the server: ' +
        '`source <(sluice completion bash)`, also for zsh; `sluice completion fish | source`; ' +
        '`sluice completion powershell | Out-String | Invoke-Expression`.',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'powershell']))
    .action((shell: string) => {
      if (shell === 'bash') process.stdout.write(BASH);
      else script(shell, 'sluice', 'sluice');
    });
};
