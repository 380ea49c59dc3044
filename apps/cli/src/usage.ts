import { type Command } from 'commander';

/**
 * Adds an option that must be given. Commander checks its own required options before it looks for unknown ones, and so
 * would answer `--mail` with the demand for `--email`.
 */
export const requireOption = (command: Command, flags: string, description: string): Command => {
  command.option(flags, description);
  const option = command.options.at(-1);
  return command.hook('preAction', (_hooked, running) => {
    if (option === undefined || running.getOptionValue(option.attributeName()) !== undefined) return;
    running.error(`error: required option '${flags}' not specified`);
  });
};

/** Refuses arguments in words of the command, where Commander would only count them. */
export const takeNoArguments = (command: Command, told: (first: string) => string): Command =>
  command.allowExcessArguments().hook('preAction', (_hooked, running) => {
    const [first] = running.args;
    if (first !== undefined) running.error(`error: ${told(first)}`);
  });

/** Shows one line after a usage error, in place of the whole help. */
export const showHintAfterError = (command: Command, path = command.name()): void => {
  const tells = command.commands.length > 0 ? 'lists the commands' : 'tells more';
  command.showHelpAfterError(`(\`${path} --help\` ${tells})`);
  for (const each of command.commands) showHintAfterError(each, `${path} ${each.name()}`);
};
