import { type Command, Option } from 'commander';

/**
 * Adds a required option. Commander checks its own required options before unknown ones, so for `--mail` it would only
 * report that `--email` is missing.
 */
export const requireOption = (command: Command, flags: string, description: string): Command =>
  requireGiven(command, new Option(flags, description));

/** Adds a required option with rules of its own, such as choices. */
export const requireGiven = (command: Command, option: Option): Command =>
  command.addOption(option).hook('preAction', (_hooked, running) => {
    if (running.getOptionValue(option.attributeName()) !== undefined) return;
    running.error(`error: required option '${option.flags}' not specified`);
  });

/** Refuses arguments with an explanation, where Commander would only count them. */
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
