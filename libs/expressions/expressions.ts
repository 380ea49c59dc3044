import { SerialQueue } from '#libs/async/serial-queue.js';
import { type UserError } from '#libs/component-model/run-output.js';
import {
  AskedProcess,
  type Outcome,
  DEFAULT_JAIL_LIMITS,
  JailLauncher,
  causeOf,
  userError,
  type JailLevel,
} from '#libs/sandbox/index.js';
import { encodeRecord, ProtocolBreach, type RawRecord } from '#libs/framing/records.js';
import { expressionsChildCode } from './child-code.js';
import {
  MAX_VALUE_BYTES,
  readAnswer,
  scopeParts,
  STEP_MS,
  type ExpressionScope,
  type ExpressionText,
  type Place,
  type PropType,
  type Question,
  type SyntaxFault,
  type ValuePath,
  type YamlFault,
} from './messages.js';

/** JSON text of a value, or the error that fails the step. */
export type Evaluation<T> = (
  | { readonly ok: true; readonly json: T }
  /** `name` and `code` are ExpressionError, ConfigurationError or the code of a limit. */
  | { readonly ok: false; readonly error: UserError }
) & {
  /** Milliseconds that the expressions took, for the `leftMs` of the step's next call. */
  readonly usedMs: number;
};

/** What reading YAML gave: `spoilt` when the process ended or did not answer in time. */
export type YamlReading =
  | { readonly kind: 'value'; readonly json: string }
  | { readonly kind: 'faults'; readonly faults: readonly YamlFault[] }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'spoilt'; readonly reason: string };

interface Told {
  readonly answer: ReturnType<typeof readAnswer>['answer'];
  readonly text: string;
}

/** Time beyond that of the step, for reading a call, conversion, and waiting for the processor. */
const GRACE_MS = 2_000;
/** Time for reading YAML. */
const YAML_MS = 3_000;

/**
 * Evaluates the expressions of one workspace in one jailed process without network, in a vm2 realm as a second wall. One
 * that only parses expressions and reads YAML runs no code of authors, so all workspaces may share it.
 * The process starts with the first call and stays warm until `close`. Calls wait for each other, and the caller bounds
 * their number. A process that ended, or did not answer in time, is replaced at the next call.
 *
 * A call rejects only when the process cannot be started. Errors of authors are part of its result.
 */
export class Expressions {
  private readonly house: JailLauncher;
  private readonly turns = new SerialQueue();
  private process: AskedProcess | undefined;
  private isClosed = false;

  constructor(
    level: JailLevel,
    private readonly memoryMb = DEFAULT_JAIL_LIMITS.memoryMb,
  ) {
    this.house = new JailLauncher(level, { ...DEFAULT_JAIL_LIMITS, memoryMb, tmpMb: 1 }, expressionsChildCode);
  }

  /**
   * Evaluates the props of a step: each `{{ … }}` in texts of `values`, at any depth, but not in keys. Then each value
   * is converted to its prop's type. A prop that is undefined is left out.
   *
   * @param values JSON object of values by name, nested as deep as a definition may be
   * @param leftMs remaining time of the step, STEP_MS at first
   */
  async evaluate(
    values: string,
    scope: ExpressionScope,
    types: readonly PropType[],
    leftMs = STEP_MS,
  ): Promise<Evaluation<string>> {
    const told = await this.ask('props', leftMs, () => {
      const { head, texts } = scopeParts(scope);
      return [{ t: 'props', scope: head, types, leftMs }, [...texts, values]];
    });
    return evaluation(told, leftMs, 'props', (text) => text);
  }

  /** Evaluates a text that is one expression, such as `if`. The JSON of undefined is undefined. */
  async evaluateOne(
    text: string,
    scope: ExpressionScope,
    place: string,
    leftMs = STEP_MS,
  ): Promise<Evaluation<string | undefined>> {
    const told = await this.ask('expression', leftMs, () => {
      const { head, texts } = scopeParts(scope);
      return [{ t: 'expression', scope: head, place, leftMs }, [...texts, text]];
    });
    return evaluation(told, leftMs, place, (json) => (json === '' ? undefined : json));
  }

  /** Returns the faults of the expressions in texts, one for a text and 50 at most. Evaluates nothing. */
  async parse(texts: readonly ExpressionText[]): Promise<readonly SyntaxFault[]> {
    const told = await this.ask('parse', STEP_MS, () => [{ t: 'parse' }, [JSON.stringify(texts)]]);
    if ('reason' in told) return [[0, told.reason, 0]];
    return told.answer[0] === 'parsed' ? told.answer[1] : [];
  }

  /** Makes JSON of YAML. The process is that of the expressions, because a text may exhaust a parser of either. */
  async readYaml(text: string): Promise<YamlReading> {
    const told = await this.ask('yaml', YAML_MS, () => [{ t: 'yaml' }, [text]]);
    if ('reason' in told) return { kind: 'spoilt', reason: this.tooCostly() };
    const { answer } = told;
    if (answer[0] === 'document') return { kind: 'value', json: told.text };
    return answer[0] === 'faults' ? { kind: 'faults', faults: answer[1] } : { kind: 'too_large' };
  }

  /** Places of 50 values at most in YAML that was read. Empty when the process could not find them. */
  async locate(text: string, paths: readonly ValuePath[]): Promise<readonly Place[]> {
    const told = await this.ask('locate', YAML_MS, () => [{ t: 'locate', paths }, [text]]);
    return 'answer' in told && told.answer[0] === 'places' ? told.answer[1] : [];
  }

  /** Ends the process and removes its files. Idempotent. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.turns.idle();
    this.process?.kill();
    await this.process?.ended;
    await this.house.close();
  }

  private tooCostly(): string {
    return `the text cannot be read within ${YAML_MS / 1_000} s and ${this.memoryMb} MB: it nests too deep or is too long`;
  }

  /** @param messageOf the question and its texts, which may have 6 MB and are copied only when it is its turn */
  private ask(
    kind: Question['t'],
    timeMs: number,
    messageOf: () => readonly [Question, readonly (string | Buffer)[]],
  ): Promise<Told | Unanswered> {
    return this.turns.run(async () => {
      const process = await this.started();
      const outcome = await process.ask(encodeRecord(0, ...messageOf()), timeMs + GRACE_MS, readTold(kind));
      return outcome.kind === 'answer' ? outcome.answer : { reason: reasonOf(outcome, this.memoryMb) };
    });
  }

  private async started(): Promise<AskedProcess> {
    if (this.isClosed) throw new Error('the expressions are closed');
    if (this.process !== undefined && !this.process.hasEnded) return this.process;
    const process = await AskedProcess.start(this.house, {}, MAX_VALUE_BYTES + MAX_HEAD);
    this.process = process;
    // The first answer shows that the process is ready, so that no author pays for its start.
    const { startTimeoutMs } = this.house.limits;
    const hello = encodeRecord(0, { t: 'parse' } satisfies Question, ['[["template","{{ 0 }}"]]']);
    const { kind } = await process.ask(hello, startTimeoutMs, readTold('parse'));
    if (kind !== 'answer')
      throw new Error(`the process of expressions did not start within ${startTimeoutMs} ms: ${kind}`);
    return process;
  }
}

interface Unanswered {
  readonly reason: string;
}

const MAX_HEAD = 64 * 1024;

const ANSWERS: Readonly<Record<Question['t'], readonly string[]>> = {
  props: ['value', 'failed'],
  expression: ['value', 'failed'],
  parse: ['parsed'],
  yaml: ['document', 'faults', 'too_large'],
  locate: ['places'],
};

/** Reads an answer to a request of this kind. Throws ProtocolBreach. */
const readTold =
  (t: Question['t']) =>
  (record: RawRecord): Told => {
    const told = readAnswer(record);
    if (!ANSWERS[t].includes(told.answer[0]))
      throw new ProtocolBreach(`a process of expressions answered ${told.answer[0]} to ${t}`);
    return told;
  };

const evaluation = <T>(
  told: Told | Unanswered,
  leftMs: number,
  place: string,
  valueOf: (text: string) => T,
): Evaluation<T> => {
  if ('reason' in told)
    return { ok: false, error: userError('ExpressionError', `${place}: ${told.reason}`), usedMs: leftMs };
  const { answer, text } = told;
  switch (answer[0]) {
    case 'value':
      return { ok: true, json: valueOf(text), usedMs: answer[1] };
    case 'failed':
      return { ok: false, error: userError(answer[2], answer[3]), usedMs: answer[1] };
    default:
      throw new Error(`a process of expressions answered ${answer[0]} instead of a value`);
  }
};

const reasonOf = (outcome: Exclude<Outcome<Told>, { kind: 'answer' }>, memoryMb: number): string => {
  switch (outcome.kind) {
    case 'timeout':
      return `the expressions of the step took longer than ${STEP_MS} ms together`;
    case 'breach':
      return 'the expressions broke the protocol of their process';
    case 'ended':
      return causeOf(outcome.end, { memoryMb }).code === 'OutOfMemory'
        ? `the expressions needed more memory than ${memoryMb} MB`
        : 'the expressions ended their process';
  }
};
