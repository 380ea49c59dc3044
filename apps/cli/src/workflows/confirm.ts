import { type Globals } from '../author/globals.js';
import { Interrupted, mayAsk, terminalPrompts } from '../author/prompts.js';

/** Puts a question to the person at the terminal. Resolves with whether the answer is yes. */
export type Confirm = (question: string) => Promise<boolean>;

/** Undefined where nobody can be asked, or nobody wants to be. */
export const confirmHere = (globals: Pick<Globals, 'input' | 'json'>): Confirm | undefined => {
  const { stdin, stderr, env } = process;
  const isTerminal = { stdin: stdin.isTTY === true, stderr: stderr.isTTY === true };
  return mayAsk(globals, { env, isTerminal }) ? confirmed : undefined;
};

const confirmed: Confirm = async (question) => {
  try {
    return await terminalPrompts().confirm(question);
  } catch (error) {
    if (error instanceof Interrupted) process.exit(130);
    throw error;
  }
};
