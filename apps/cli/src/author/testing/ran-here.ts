import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Exit } from '../failure.js';
import { type Act, carriedOut } from '../command.js';
import { contextOf, type Io } from '../context.js';
import { type Globals } from '../globals.js';
import { type Prompts } from '../prompts.js';

interface Ran {
  readonly exit: Exit;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

/** Runs a command as the program does, with the key `a-key` and without a file of profiles. */
export const ranHere = async <Options>(
  act: Act<Options>,
  args: readonly string[],
  options: Options & Globals,
  confirm?: Prompts['confirm'],
): Promise<Ran> => {
  const [out, err]: [string[], string[]] = [[], []];
  const isAsked = confirm !== undefined;
  const io: Io = {
    out: (line) => void out.push(line),
    raw: (text) => void out.push(text),
    err: (line) => void err.push(line),
    progress: () => undefined,
    input: () => Promise.resolve(''),
    isTerminal: { stdin: isAsked, stdout: false, stderr: isAsked },
    columns: undefined,
    env: { SLUICE_CONFIG: join(tmpdir(), 'no-such-folder', 'config.json') },
    given: (name) => (name === 'SLUICE_API_KEY' ? { value: 'a-key', from: 'environment' } : undefined),
    // The others are not asked.
    prompts: () => ({ confirm }) as Prompts,
  };
  const context = contextOf(options, io);
  return { exit: await carriedOut(context, () => act(context, args, options)), out, err };
};
