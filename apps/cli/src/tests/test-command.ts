import { type Command } from 'commander';
import { run } from 'node:test';
import { authorCommand, type Told } from '../author/command.js';
import { type Context } from '../author/context.js';
import { jsonLine } from '../author/json.js';
import { harmlessLines, type Line, printed } from '../author/text.js';
import { CommandFailure } from '../author/failure.js';
import { testFiles } from './test-files.js';
import { type RunnerEvent, type TestResult, TestResults } from './test-results.js';

interface Options {
  readonly watch?: boolean;
  readonly record?: boolean;
  readonly jail?: boolean;
  readonly name?: string;
}

export const registerTest = (program: Command): void => {
  authorCommand<Options>(
    program
      .command('test')
      .description(
        'Runs the tests of components: files that end in .test.mjs, .js, .ts, .mts or .cjs. Ends with 1 when a test failed or none was found.',
      )
      .argument('[patterns...]', 'file, folder, or part of a path')
      .option('--watch', 'run them again after each change')
      .option('--record', 'send requests of components, and record the answers in the files that tests name')
      .option('--jail', 'isolate components as strongly as this machine can')
      .option('--name <text>', 'only tests whose name has this text'),
    test,
  );
};

const test = async (context: Context, patterns: readonly string[], options: Options): Promise<Told> => {
  const folder = process.cwd();
  const files = testFiles(folder, patterns);
  if (files.length === 0)
    throw nothingFound('no file of tests was found: they end in .test.mjs, .js, .ts, .mts or .cjs');
  setUp(options);
  const results = new TestResults(folder);
  const stream = run({
    files: [...files],
    concurrency: true,
    watch: options.watch === true,
    ...(options.name === undefined
      ? {}
      : { testNamePatterns: [new RegExp(options.name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))] }),
  });
  let began = performance.now();
  stream.on('test:start', (event: RunnerEvent) => results.started(event));
  stream.on('test:pass', (event: RunnerEvent) => tell(context, results.ended('pass', event)));
  stream.on('test:fail', (event: RunnerEvent) => tell(context, results.ended('fail', event)));
  stream.on('test:stdout', ({ message }: { message: string }) => pass(context, message));
  stream.on('test:stderr', ({ message }: { message: string }) => pass(context, message));
  // With --watch, each round is told alone.
  stream.on('test:watch:drained', () => {
    tellEnd(context, results, performance.now() - began);
    results.beginAgain();
    began = performance.now();
  });
  await new Promise<void>((done, fail) => stream.on('end', done).on('error', fail).resume());
  const { passed, failed } = results;
  if (passed + failed === 0) throw nothingFound(`no test was found in ${files.length} file(s)`);
  tellEnd(context, results, performance.now() - began);
  return { data: null, lines: [], streamed: true, exit: failed === 0 ? 0 : 1 };
};

const nothingFound = (message: string): CommandFailure => new CommandFailure({ exit: 1, code: 'no_tests', message });

/** Node's runner starts a process for each file, with this environment. */
const setUp = ({ record, jail }: Options): void => {
  const { env } = process;
  const register = new URL('../../../../libs/test-kit/register.js', import.meta.url).href;
  env['NODE_OPTIONS'] = `${env['NODE_OPTIONS'] ?? ''} --import ${JSON.stringify(register)}`.trim();
  if (record === true) env['SLUICE_TEST_RECORD'] = '1';
  if (jail === true) env['SLUICE_TEST_JAIL'] = '1';
};

const tell = ({ globals, io, look }: Context, result: TestResult | undefined): void => {
  if (result === undefined) return;
  if (globals.json) return io.out(jsonLine(result));
  const { type, file, name, ms, error } = result;
  const mark = type === 'pass' ? ({ text: '✓', as: 'good' } as const) : ({ text: '✗', as: 'bad' } as const);
  const line: Line = [mark, ` ${name} `, { text: `${file} ${ms} ms`, as: 'dim' }];
  io.out(printed(line, look));
  if (error !== null) io.out(harmlessLines(error).replace(/^/gm, '    '));
};

/** What tests and components print. */
const pass = ({ io }: Context, message: string): void => io.err(harmlessLines(message.replace(/\n$/, '')));

const tellEnd = ({ globals, io, look }: Context, { passed, failed }: TestResults, ms: number): void => {
  if (globals.json) return io.out(jsonLine({ type: 'end', passed, failed }));
  const line: Line = [
    { text: `${passed} passed`, as: passed === 0 ? 'dim' : 'good' },
    ', ',
    { text: `${failed} failed`, as: failed === 0 ? 'dim' : 'bad' },
    ` (${(ms / 1000).toFixed(1)} s)`,
  ];
  io.out(printed(line, look));
};
