import { type Command } from 'commander';
import { type Outcome } from '../workflows/outcome.js';
import { contextOf, type Context } from './context.js';
import { addGlobals, globalsOf } from './globals.js';
import { isFields, jsonLine } from './json.js';
import { harmless, harmlessLines, type Line, printed } from './text.js';

/** What a command found or did. */
export interface Told {
  /** Of the JSON document. */
  readonly data: unknown;
  readonly pageInfo?: unknown;
  readonly warnings?: readonly unknown[];
  /** The same for people. */
  readonly lines: readonly Line[];
  /** What is no result, for people. */
  readonly hints?: readonly string[];
  /** Printed as it is, in place of all else. */
  readonly raw?: string;
  /** Set when everything was printed as it came. */
  readonly streamed?: true;
  readonly exit?: Outcome['exit'];
}

type Act<Options> = (context: Context, args: readonly string[], options: Options) => Promise<Told>;

/** Makes a command one of authors: with the options of every command, and with output and exits by one rule. */
export const authorCommand = <Options = object>(command: Command, act: Act<Options>): Command =>
  addGlobals(command).action(async (...given: unknown[]) => {
    const context = contextOf(globalsOf(command));
    process.once('SIGINT', () => process.exit(context.interrupted.exit));
    // Commander adds the options and the command to the arguments.
    const args = given.slice(0, -2).flat() as readonly string[];
    print(context, await act(context, args, command.opts() as Options));
  });

const print = ({ globals, look, io }: Context, told: Told): void => {
  const { data, pageInfo, warnings = [], lines, hints = [], raw, streamed = false, exit = 0 } = told;
  process.exitCode = exit;
  if (streamed) return;
  if (raw !== undefined) {
    // It may be no JSON, when the server is none of Sluice.
    io.raw(look.columns === undefined ? raw : `${harmlessLines(raw)}\n`);
    return;
  }
  if (globals.json) {
    const document = {
      data,
      ...(pageInfo === undefined ? {} : { page_info: pageInfo }),
      ...(warnings.length === 0 ? {} : { warnings }),
    };
    io.out(jsonLine(document));
    return;
  }
  for (const line of lines) io.out(printed(line, look));
  for (const warning of warnings) io.err(`warning: ${harmless(warningText(warning))}`);
  for (const hint of hints) io.err(harmless(hint));
};

const warningText = (warning: unknown): string => {
  if (typeof warning === 'string') return warning;
  const message = isFields(warning) ? warning['message'] : undefined;
  return typeof message === 'string' ? message : jsonLine(warning);
};
