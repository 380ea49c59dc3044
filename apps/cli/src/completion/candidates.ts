import { type Argument, type Command, type Option } from 'commander';
import { type Globals } from '../author/globals.js';

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** What a word may be that a shell completes. */
export interface Candidates {
  readonly known: readonly Candidate[];
  /** What the names are of, besides, that a server knows: the word for it in the help of the command. */
  readonly named: string | undefined;
  readonly isFile: boolean;
  /** The options of the line that choose the server. */
  readonly globals: Globals;
  /** The word as it stands, and what of it stays before each candidate. */
  readonly word: string;
  readonly before: string;
}

const FILES = /^(?:file|files|dir|folder|archive|archive-dir)$/;

/** @param line words after the name of the program, the last one being completed. It may be empty. */
export const candidatesFor = (program: Command, line: readonly string[]): Candidates => {
  const { words, isSplit } = joined(line);
  const walk = walked(program, words.slice(0, -1));
  const { command, globals, pending } = walk;
  const word = words.at(-1) ?? '';
  const none = { known: [], named: undefined, isFile: false, globals, word, before: '' };
  if (pending !== undefined) return { ...none, ...valuesOf(pending) };
  const [, flag, value] = /^(--[^=]+)=([^]*)$/.exec(word) ?? [];
  if (flag !== undefined && value !== undefined && !walk.isVerbatim) {
    const option = optionOf(command, flag);
    const split = isSplit ? { word: value } : { before: `${flag}=` };
    return option === undefined ? none : { ...none, ...valuesOf(option), ...split };
  }
  if (word.startsWith('-') && !walk.isVerbatim) return { ...none, known: flagsOf(command) };
  const below = walk.position === 0 ? commandsBelow(command) : [];
  const argument = argumentAt(command, walk.position);
  const values = argument === undefined ? none : { ...none, ...valuesOf(argument) };
  return { ...values, known: [...below, ...values.known] };
};

/** Bash breaks words at an equals sign. */
const joined = (line: readonly string[]): { readonly words: readonly string[]; readonly isSplit: boolean } => {
  const words: string[] = [];
  for (const [at, word] of line.entries()) {
    const isRest = at > 0 && (word === '=' || line[at - 1] === '=') && words.length > 0;
    words.push(isRest ? `${words.pop() ?? ''}${word}` : word);
  }
  return { words, isSplit: line.at(-1) === '=' || line.at(-2) === '=' };
};

interface Walked {
  readonly command: Command;
  /** Arguments of the command that are given. */
  readonly position: number;
  /** Option whose value is next. */
  readonly pending: Option | undefined;
  /** Behind `--`, where nothing is an option. */
  readonly isVerbatim: boolean;
  readonly globals: Globals;
}

const walked = (program: Command, words: readonly string[]): Walked => {
  let [command, position, isVerbatim]: [Command, number, boolean] = [program, 0, false];
  let pending: Option | undefined;
  const globals: Record<string, string> = {};
  for (const word of words) {
    if (pending !== undefined) {
      globals[pending.attributeName()] = word;
      pending = undefined;
    } else if (!isVerbatim && word === '--') isVerbatim = true;
    else if (!isVerbatim && word.startsWith('-') && word !== '-') {
      const [, flag = word, value] = /^(--[^=]+)=([^]*)$/.exec(word) ?? [];
      const option = optionOf(command, flag);
      if (option !== undefined && value !== undefined) globals[option.attributeName()] = value;
      else if (option?.required === true) pending = option;
    } else {
      const below = position === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (below === undefined) position++;
      else command = below;
    }
  }
  const { profile, url, workspace } = globals;
  return { command, position, pending, isVerbatim, globals: { profile, url, workspace } };
};

/** An option of the command. Those of the program may stand before its name. */
const optionOf = (command: Command, flag: string): Option | undefined =>
  command.options.find(({ short, long }) => flag === short || flag === long);

const flagsOf = (command: Command): readonly Candidate[] => [
  ...command.options
    .filter(({ hidden, long }) => !hidden && typeof long === 'string')
    .map(({ long, description }) => ({ value: long ?? '', description })),
  { value: '--help', description: 'tells more' },
];

const commandsBelow = (command: Command): readonly Candidate[] =>
  command.commands.map((each) => ({ value: each.name(), description: each.summary() || each.description() }));

const argumentAt = (command: Command, position: number): Argument | undefined => {
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[position] ?? (last?.variadic === true ? last : undefined);
};

const valuesOf = (
  of: Option | Argument,
): Pick<Candidates, 'named' | 'isFile'> & { readonly known: readonly Candidate[] } => {
  const named = 'flags' in of ? /[<[]([a-z-]+)/.exec(of.flags)?.[1] : of.name();
  return {
    known: (of.argChoices ?? []).map((value) => ({ value, description: '' })),
    named: 'flags' in of && /^(?:profile|workspace)$/.test(of.attributeName()) ? of.attributeName() : named,
    isFile: named !== undefined && FILES.test(named),
  };
};
