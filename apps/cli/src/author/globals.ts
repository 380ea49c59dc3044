import { type Command, Option } from 'commander';

/** Options of every author command, given before or after its name. */
export interface Globals {
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  readonly workspace?: string | undefined;
  readonly json?: boolean | undefined;
  readonly yes?: boolean | undefined;
  /** False with `--no-input`. */
  readonly input?: boolean | undefined;
  readonly color?: 'always' | 'never' | 'auto' | undefined;
  readonly verbose?: boolean | undefined;
}

const options = (): readonly Option[] => [
  new Option('-p, --profile <name>', 'profile of `sluice login`'),
  new Option('--url <address>', 'address of the server'),
  new Option('--workspace <workspace>', 'id (o_…) or name of the workspace'),
  new Option('--json', 'print one JSON document'),
  new Option('-y, --yes', 'do what would be asked about'),
  new Option('--no-input', 'ask nothing'),
  new Option('--color <when>', 'colours: always, never or auto').choices(['always', 'never', 'auto']),
  new Option('--verbose', 'tell each request, without keys'),
];

/** Flags whose next argument is their value. */
const VALUED: ReadonlySet<string> = new Set(
  options()
    .filter(({ required }) => required)
    .flatMap(({ short, long }) => [short, long])
    .filter((flag) => flag !== undefined && flag !== null),
);

/** Adds those that the command does not have itself. */
export const addGlobals = (command: Command): Command => {
  for (const option of options())
    if (!command.options.some(({ long }) => long === option.long))
      command.addOption(option.helpGroup('Options of Develop and Use:'));
  return command;
};

/** Those that were given. The ones after the name of the command win over those before it. */
export const globalsOf = (command: Command): Globals => {
  const given: Record<string, unknown> = {};
  for (let each: Command | null = command; each !== null; each = each.parent)
    for (const option of options()) {
      const name = option.attributeName();
      if (!(name in given) && each.getOptionValueSource(name) === 'cli') given[name] = each.getOptionValue(name);
    }
  return given;
};

/** For an option that may be given several times, with one value each. */
export const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];

/** Flags of those that were given to this command itself. */
export const globalFlags = (command: Command): readonly string[] =>
  options().flatMap((option) =>
    command.getOptionValueSource(option.attributeName()) === 'cli' ? [option.long ?? option.flags] : [],
  );

/** Position of the command's name among the arguments, or -1. */
export const commandAt = (args: readonly string[]): number => {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') return at + 1 < args.length ? at + 1 : -1;
    if (!arg.startsWith('-')) return at;
    if (VALUED.has(arg)) at++;
  }
  return -1;
};
