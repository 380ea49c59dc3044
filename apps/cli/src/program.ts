import { Command, CommanderError } from 'commander';
import { version } from '#libs/hosting/version.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { addGlobals, commandAt, globalFlags } from './author/globals.js';
import { printFailure } from './author/print-failure.js';
import { COMMANDS, type CommandEntry, isAuthors } from './commands.js';
import { showHintAfterError } from './usage.js';
import { CommandFailure } from './author/failure.js';

/** Exit of a wrong command line. */
const USAGE = 2;

/** Runs the command that the arguments name, and loads the code of this command only. */
export const runProgram = async (args: readonly string[]): Promise<void> => {
  if (args[0] === 'complete' && args[1] === '--') {
    await completeLine(args.slice(2));
    return;
  }
  const name = nameIn(args);
  const said = { json: args.includes('--json'), isAuthors: name !== undefined && isAuthors(name) };
  if (name !== undefined && !COMMANDS.some((entry) => entry.name === name)) {
    tellWrong({ ...said, isAuthors: true }, noCommand(name), 'sluice --help');
    return;
  }
  try {
    const program = await programFor(name, said);
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) endBy(error, said);
    else await fail(error, said);
  }
};

/** What the scripts of `sluice completion` ask for. It is no command for people. */
const completeLine = async (line: readonly string[]): Promise<void> => {
  const { complete } = await import('./completion/complete.js');
  const name = nameIn(line.slice(0, -1));
  await complete(await programFor(name, { json: false, isAuthors: false }), line);
  // A request may not have been answered yet.
  process.exit(0);
};

interface Said {
  readonly json: boolean;
  readonly isAuthors: boolean;
}

const nameIn = (args: readonly string[]): string | undefined => {
  const at = commandAt(args);
  if (args[at] !== 'help') return args[at];
  const named = commandAt(args.slice(at + 1));
  return named === -1 ? undefined : args[at + 1 + named];
};

const noCommand = (name: string): string => {
  const meant = nearMiss(
    name,
    COMMANDS.map((entry) => entry.name),
  );
  return `"${name.slice(0, 64)}" is no command.${meant === undefined ? '' : ` Meant "${meant}"?`} "sluice --help" lists them.`;
};

const programFor = async (name: string | undefined, said: Said): Promise<Command> => {
  const program = new Command('sluice')
    .version(version())
    .description('Deploys and runs sources and workflows, and maintains an installation of Sluice.')
    .usage('[options] <command>')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(outputOf(said));
  addGlobals(program);
  for (const entry of COMMANDS) await register(program, entry, entry.name === name);
  // Only for the list of commands: those below inherited what was there before.
  program.addHelpCommand(
    new Command('help').argument('[command]').summary('Tells more about a command').helpGroup('Use:'),
  );
  program.configureHelp({ subcommandTerm: (command) => command.name() });
  showHintAfterError(program);
  program.hook('preSubcommand', (_, command) => {
    const [given] = isAuthors(command.name()) ? [] : globalFlags(program);
    if (given !== undefined) program.error(`error: ${command.name()} takes no option ${given} before its name`);
  });
  return program;
};

const register = async (program: Command, entry: CommandEntry, isWanted: boolean): Promise<void> => {
  if (isWanted) (await entry.load())(program);
  else program.command(entry.name);
  program.commands
    .find((command) => command.name() === entry.name)
    ?.summary(entry.summary)
    .helpGroup(`${entry.group}:`);
};

const outputOf = (said: Said): { outputError?: (text: string) => void; writeErr?: (text: string) => void } => {
  if (!said.isAuthors) return {};
  return {
    outputError: (text) => tellWrong(said, text.replace(/^error: /, '').trimEnd(), null),
    // The hint and the help after a mistake.
    ...(said.json ? { writeErr: () => undefined } : {}),
  };
};

const tellWrong = ({ json }: Said, error: string, next: string | null): void => {
  const [message = '', ...after] = error.split('\n');
  printFailure(new CommandFailure({ exit: USAGE, code: 'usage', message, after, next }), json);
};

const endBy = ({ exitCode, code }: CommanderError, said: Said): void => {
  if (exitCode === 0) return;
  process.exitCode = USAGE;
  // The help of a command that needs another below it.
  if (code === 'commander.help' && said.json) tellWrong(said, 'name a command below this one', null);
};

const fail = async (error: unknown, { json, isAuthors }: Said): Promise<void> => {
  if (isAuthors) {
    printFailure(error, json);
    return;
  }
  process.exitCode = 1;
  // These know the settings of a server, which no author command needs.
  const { operatorProblem } = await import('#libs/hosting/start-problem.js');
  const { maskSecrets } = await import('#libs/kernel/mask-secrets.js');
  process.stderr.write(`sluice: ${maskSecrets(operatorProblem(error) ?? messageOf(error))}\n`);
};
