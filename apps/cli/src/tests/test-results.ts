import path from 'node:path';
import { messageOf } from '#libs/kernel/error-message.js';

/** What Node's runner tells of a test. */
export interface RunnerEvent {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly todo?: string | boolean | undefined;
  readonly details?:
    { readonly duration_ms?: number; readonly type?: string | undefined; readonly error?: unknown } | undefined;
}

export interface TestResult {
  readonly type: 'pass' | 'fail';
  readonly file: string;
  /** With those of the suites around it. */
  readonly name: string;
  readonly ms: number;
  readonly error: string | null;
}

/** Makes results of the events of Node's runner, one for each test. */
export class TestResults {
  passed = 0;
  failed = 0;
  /** Names of what runs, by file and nesting. */
  private readonly running = new Map<string, string[]>();

  constructor(private readonly folder: string) {}

  /** Forgets what was counted. */
  beginAgain(): void {
    this.passed = 0;
    this.failed = 0;
  }

  /** Test files run at the same time, each with its own suites. */
  started({ name, nesting, file = '' }: RunnerEvent): void {
    const names = this.running.get(file) ?? [];
    this.running.set(file, [...names.slice(0, nesting), name]);
  }

  /** Undefined for a suite, for a file whose tests are told, and for a test that was left out. */
  ended(type: 'pass' | 'fail', { name, nesting, file = '', skip, todo, details }: RunnerEvent): TestResult | undefined {
    const isLeftOut = (skip !== undefined && skip !== false) || (todo !== undefined && todo !== false);
    if (isLeftOut || details?.type === 'suite') return undefined;
    const cause = causeOf(details?.error);
    if (isOfParts(details?.error)) return undefined;
    // A file without tests passes as a test of its own.
    const isFile = nesting === 0 && path.resolve(this.folder, name) === file;
    if (isFile && type === 'pass') return undefined;
    this[type === 'pass' ? 'passed' : 'failed']++;
    const around = (this.running.get(file) ?? []).slice(0, nesting);
    return {
      type,
      file: path.relative(this.folder, file),
      name: [...around, name].join(' > '),
      ms: Math.round(details?.duration_ms ?? 0),
      error: type === 'pass' ? null : textOf(cause),
    };
  }
}

/** A suite, or a file, that failed because a test of it did, which is told itself. */
const isOfParts = (error: unknown): boolean =>
  fieldOf(error, 'failureType') === 'subtestsFailed' || fieldOf(error, 'failureType') === 'cancelledByParent';

const causeOf = (error: unknown): unknown => fieldOf(error, 'cause') ?? error;

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;

/** The stack has the name, the message with the difference, and the place. */
const textOf = (cause: unknown): string => {
  const stack = fieldOf(cause, 'stack');
  return typeof stack === 'string' && stack !== '' ? withoutRunner(stack) : messageOf(cause);
};

const withoutRunner = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => !/^\s+at .*\(?(?:node:|file:.*\/(?:dist\/libs\/test-kit|dist\/chunks)\/)/.test(line))
    .join('\n');
