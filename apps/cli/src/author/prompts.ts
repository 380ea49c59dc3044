import type * as prompts from '@inquirer/prompts';
import { type Globals } from './globals.js';
import { harmless } from './text.js';

/** Asks a person. Each rejects with Interrupted after Ctrl-C. */
export interface Prompts {
  text(message: string, initial: string): Promise<string>;
  /** Shows nothing of what is typed. */
  secret(message: string): Promise<string>;
  /** No, unless the person says yes. */
  confirm(message: string): Promise<boolean>;
  choose(message: string, choices: readonly Choice[]): Promise<string>;
  /** A longer text, in the editor of the person. */
  edit(message: string, initial: string): Promise<string>;
  /** Several of the choices, or none. */
  check(message: string, choices: readonly Choice[]): Promise<readonly string[]>;
  /** One of the choices that `find` resolves with for what is typed, which may be given up for the next letter. */
  search(message: string, find: (typed: string, signal: AbortSignal) => Promise<readonly Choice[]>): Promise<string>;
}

export interface Choice {
  readonly name: string;
  readonly value: string;
}

export class Interrupted extends Error {}

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: { readonly stdin: boolean; readonly stderr: boolean };
}

/** Whether somebody can be asked. */
export const mayAsk = ({ input, json }: Globals, { env, isTerminal }: Surroundings): boolean =>
  isTerminal.stdin && isTerminal.stderr && input !== false && json !== true && (env['CI'] ?? '') === '';

/** Asks on standard error, because standard output has the results. Texts of others are shown as `harmless` has them. */
export const terminalPrompts = (): Prompts => {
  const shown = { output: process.stderr };
  return {
    text: async (question, initial) => {
      const [message, usual] = [harmless(question), harmless(initial)];
      const typed = await asked(({ input }) => input({ message, default: usual }, shown));
      return typed === usual ? initial : typed;
    },
    secret: (message) =>
      asked(({ password }) =>
        password({ message: harmless(message), mask: false, theme: { style: { maskedText: '' } } }, shown),
      ),
    confirm: (message) =>
      asked(({ confirm }) => confirm({ message: harmless(message), default: false, theme: { style: NO } }, shown)),
    choose: (message, choices) =>
      asked(({ select }) => select({ message: harmless(message), choices: shownOf(choices) }, shown)),
    edit: (message, initial) =>
      asked(({ editor }) =>
        editor({ message: harmless(message), default: initial, postfix: '.json', waitForUserInput: false }, shown),
      ),
    check: (message, choices) =>
      asked(({ checkbox }) => checkbox({ message: harmless(message), choices: shownOf(choices) }, shown)),
    search: (message, find) =>
      asked(({ search }) => {
        const source = async (typed = '', { signal }: { readonly signal: AbortSignal }) =>
          shownOf(await find(typed, signal));
        return search({ message: harmless(message), source }, shown);
      }),
  };
};

const NO = { defaultAnswer: (text: string): string => `[${text}]` };

const shownOf = (choices: readonly Choice[]): Choice[] =>
  choices.map(({ name, value }) => ({ name: harmless(name), value }));

type Library = typeof prompts;

const asked = async <T>(ask: (library: Library) => Promise<T>): Promise<T> => {
  const library = await import('@inquirer/prompts');
  try {
    return await ask(library);
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted('interrupted');
    throw error;
  }
};
