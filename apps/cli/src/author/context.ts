import { readLimited } from '#libs/async/read-limited.js';
import { type Given, givenHere } from './server.js';
import { type Globals } from './globals.js';
import { profilesFile, type Profiles, readProfiles, writeProfiles } from './profiles.js';
import { INTERRUPTED } from './print-failure.js';
import { mayAsk, type Prompts, terminalPrompts } from './prompts.js';
import { openSession, type Session } from './session.js';
import { type Look } from './text.js';

/** What is around a command. Tests give their own. */
export interface Io {
  /** Prints a line of results. */
  out(line: string): void;
  /** Prints results without a line end. */
  raw(text: string): void;
  /** Prints a line of anything else. */
  err(line: string): void;
  /** Replaces the last line of progress on a terminal; empty to remove it. */
  progress(line: string): void;
  /** Reads all of standard input, which must not be a terminal. */
  input(): Promise<string>;
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly columns: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly given: Given;
  readonly prompts: () => Prompts;
}

/** What a command is run with. */
export interface Context {
  readonly globals: Globals;
  readonly io: Io;
  readonly look: Look;
  /** Undefined where nobody can be asked. */
  readonly prompts: Prompts | undefined;
  readonly profiles: {
    read(): Profiles;
    write(profiles: Profiles): void;
  };
  /** Exit after Ctrl-C, which a command that goes on until then sets to 0. */
  readonly interrupted: { exit: number };
  /** The server of the command, chosen once. Rejects with CommandFailure. */
  session(): Promise<Session>;
}

export const contextOf = (globals: Globals, io: Io = processIo()): Context => {
  const file = profilesFile(io.env);
  let session: Promise<Session> | undefined;
  const context: Context = {
    globals,
    io,
    look: lookOf(globals, io),
    prompts: mayAsk(globals, io) ? io.prompts() : undefined,
    profiles: {
      read: () => readProfiles(file, (text) => io.err(text)),
      write: (profiles) => writeProfiles(file, profiles),
    },
    interrupted: { exit: INTERRUPTED },
    session: () => (session ??= openSession(context)),
  };
  return context;
};

/** Colours are for terminals that have them, unless `--color` says otherwise. */
const lookOf = ({ color = 'auto', json }: Globals, { isTerminal, columns, env }: Io): Look => {
  const may = isTerminal.stdout && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const colours = json !== true && (color === 'always' || (color === 'auto' && may));
  return { colours, columns: isTerminal.stdout ? widthOf(columns) : undefined };
};

/** A terminal may not know its width, as 0 says, too. */
const widthOf = (columns: number | undefined): number => (columns === undefined || columns === 0 ? 80 : columns);

/** Bounds what is read, such as a key. */
const MOST_INPUT_BYTES = 64 * 1024 * 1024;

const processIo = (): Io => ({
  out: (line) => void process.stdout.write(`${line}\n`),
  raw: (text) => void process.stdout.write(text),
  err: (line) => void process.stderr.write(`${line}\n`),
  progress: (line) => void process.stderr.write(`\r\u001b[K${line}`),
  input: async () => {
    const given = await readLimited(process.stdin as AsyncIterable<Buffer>, MOST_INPUT_BYTES);
    if (given === undefined) throw new Error('standard input has more than 64 MB');
    return given.toString('utf8');
  },
  isTerminal: {
    stdin: process.stdin.isTTY === true,
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
  },
  columns: process.stdout.columns,
  env: process.env,
  given: givenHere,
  prompts: terminalPrompts,
});
