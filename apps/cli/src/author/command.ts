import { type Command } from 'commander';
import { CommandFailure, type Exit } from './failure.js';
import { contextOf, type Context } from './context.js';
import { addGlobals, globalsOf } from './globals.js';
import { isFields, jsonLine } from './json.js';
import { failureLines } from './print-failure.js';
import { harmless, harmlessLines, type Line, printed } from './text.js';

/** What a command found or did. */
export interface Told {
  /** Of the JSON document. */
  readonly data: unknown;
  readonly pageInfo?: unknown;
  readonly warnings?: readonly unknown[];
  /** The warnings for people, where they have a place in a file. */
  readonly warningLines?: readonly string[];
  /** The same for people. */
  readonly lines: readonly Line[];
  /** What is no result, for people. */
  readonly hints?: readonly string[];
  /** Printed as it is, in place of all else. */
  readonly raw?: string;
  /** Set when everything was printed as it came. */
  readonly streamed?: boolean;
  /** What ended the command after a part of it was done. Decides the exit. */
  readonly failed?: CommandFailure | undefined;
  readonly exit?: Exit;
}

export type Act<Options> = (context: Context, args: readonly string[], options: Options) => Promise<Told>;

/** Makes a command one of authors: with the options of every command, and with output and exits by one rule. */
export const authorCommand = <Options = object>(command: Command, act: Act<Options>): Command =>
  addGlobals(command).action(async (...given: unknown[]) => {
    const context = contextOf(globalsOf(command));
    process.once('SIGINT', () => process.exit(context.interrupted.exit));
    // Commander adds the options and the command to the arguments.
    const args = given.slice(0, -2).flat() as readonly string[];
    process.exitCode = await carriedOut(context, () => act(context, args, command.opts() as Options));
  });

/** Acts, and prints what came of it. Resolves with the exit. Rejects with what is no CommandFailure. */
export const carriedOut = async (context: Context, act: () => Promise<Told>): Promise<Exit> => {
  try {
    const told = await act();
    print(context, told);
    return told.failed?.exit ?? told.exit ?? 0;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    tellFailure(context, error);
    return error.exit;
  }
};

const tellFailure = ({ globals, io }: Context, failure: CommandFailure): void => {
  for (const line of failureLines(failure, globals.json === true)) io.err(line);
};

const print = (context: Context, told: Told): void => {
  const { globals, look, io } = context;
  const { raw, failed, streamed = false } = told;
  if (raw !== undefined) {
    // It may be no JSON, when the server is none of Sluice.
    io.raw(look.columns === undefined ? raw : `${harmlessLines(raw)}\n`);
    return;
  }
  if (globals.json && !streamed) {
    io.out(jsonLine(documentOf(told)));
    return;
  }
  if (!streamed) printLines(context, told);
  if (failed) tellFailure(context, failed.withMessage(`${failed.message}. Nothing after it was done.`));
};

const documentOf = ({ data, pageInfo, warnings = [], failed }: Told): object => ({
  data,
  ...(pageInfo === undefined ? {} : { page_info: pageInfo }),
  ...(warnings.length === 0 ? {} : { warnings }),
  ...(failed && { failed: { error: failed.message, code: failed.code, status: failed.status } }),
});

const printLines = ({ look, io }: Context, { lines, warnings = [], warningLines, hints = [] }: Told): void => {
  for (const line of lines) io.out(printed(line, look));
  const warned = warningLines ?? warnings.map((warning) => `warning: ${warningText(warning)}`);
  for (const line of [...warned, ...hints]) io.err(harmless(line));
};

const warningText = (warning: unknown): string => {
  if (typeof warning === 'string') return warning;
  const message = isFields(warning) ? warning['message'] : undefined;
  return typeof message === 'string' ? message : jsonLine(warning);
};
