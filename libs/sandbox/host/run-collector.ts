import { dictionary } from '#libs/kernel/dictionary.js';
import { textOf, ProtocolBreach } from '#libs/framing/records.js';
import { isPlainJson } from '#libs/framing/json-text.js';
import { RUN_LIMITS } from '../protocol/protocol.js';
import { emitBytes, logBytes, NOTE_BYTES, replyBytes } from '../protocol/run-size.js';
import { type EmitCall, type HttpReply, type LogLine, type UserError } from '#libs/component-model/run-output.js';
import { type AskTrigger } from '#libs/component-model/step-run.js';
import { type HeldMemory, type RunOutcome } from '../sandbox.js';
import { type Work } from './process-end.js';
import { type RunMessage } from './child-channel.js';
import { type AnswerTrigger, StepCollector, type StepMessage } from './step-collector.js';

/** Limits that stop a hostile child. A well-behaved child enforces lower limits itself. */
const MAX_DB_RECORDS = RUN_LIMITS.dbWrites + RUN_LIMITS.dbKeys;
const MAX_DB_BYTES = 4 * RUN_LIMITS.dbTotalBytes;
/** Time for which the code of a cancelled step may go on. */
const CANCELLED_MS = 5_000;
/** Approximate memory of an emit, a log line or a db change in addition to its texts. */
const OBJECT_BYTES = 256;

const NO_CHANGES: Readonly<Record<string, string | null>> = {};

type OfRun = Exclude<RunMessage, readonly ['g'] | readonly ['p' | 'q' | 'w', ...unknown[]]>;

export interface CollectedRun {
  readonly n: number;
  readonly invocationId: string;
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  readonly work: Work;
  /** Data stores that a call may use. Absent for a run or hook, which may use those of its process. */
  readonly stores?: ReadonlySet<string>;
  readonly eventBytes: number;
  readonly resolve: (outcome: RunOutcome) => void;
  readonly reject: (reason: Error) => void;
  readonly onImmediateResponse?: ((reply: HttpReply) => void) | undefined;
  /** Of a step, which may start workflows. */
  readonly onTrigger?: AskTrigger | undefined;
  readonly answerTrigger?: AnswerTrigger;
  readonly onLine?: ((line: LogLine) => void) | undefined;
  /** Of a step, which may ask for more time. */
  readonly refresh?: { readonly stretchMs: number; readonly mostMs: number };
}

/** Collects the emits, logs, db changes and reply of one run, within its limits. */
export class RunCollector {
  readonly emits: EmitCall[] = [];
  readonly logs: LogLine[] = [];
  private dbChanges: Record<string, string | null> | undefined;
  private response: HttpReply | undefined;
  private value: string | undefined;
  private delays = false;
  private channels: Set<string> | undefined;
  private payloadBytes = 0;
  private logBytes = 0;
  private dbRecords = 0;
  private dbBytes = 0;
  private wireBytes = 0;
  private exited = false;
  private cancelled = false;
  /** Time at which the run's code started, as far as the host knows. 0 before that. */
  startedAt = 0;
  startOrder = 0;
  /** Time during which the host did not read from the process. It does not count towards the run's limit. */
  private unheardMs = 0;

  readonly n: number;
  readonly invocationId: string;
  timeoutMs: number;
  readonly sentAt: number;
  /** True for a hook or a call, which does not count towards `concurrency`. */
  readonly beside: boolean;
  readonly work: Work;
  readonly eventBytes: number;
  private readonly step: StepCollector | undefined;

  constructor(private readonly request: CollectedRun) {
    this.n = request.n;
    this.invocationId = request.invocationId;
    this.timeoutMs = request.timeoutMs;
    this.sentAt = request.sentAt;
    this.work = request.work;
    this.beside = request.work !== 'run';
    this.eventBytes = request.eventBytes;
    if (request.work === 'step') this.step = new StepCollector(request.onTrigger, request.answerTrigger);
  }

  /** Data stores of a call. */
  get stores(): ReadonlySet<string> | undefined {
    return this.request.stores;
  }

  resolve(outcome: RunOutcome): void {
    this.request.resolve(outcome);
  }

  reject(reason: Error): void {
    this.request.reject(reason);
  }

  get started(): boolean {
    return this.startedAt !== 0;
  }

  /** Bytes of host memory held for the run. */
  get heldBytes(): number {
    const objects = this.emits.length + this.logs.length + this.dbRecords;
    return this.eventBytes + this.payloadBytes + this.dbBytes + objects * OBJECT_BYTES;
  }

  /** Milliseconds for which the run's code has had control. */
  ranFor(now: number): number {
    return now - this.startedAt - this.unheardMs;
  }

  wasUnheard(ms: number): void {
    if (this.started) this.unheardMs += ms;
  }

  /** Leaves a call a little time, because nobody needs its outcome. */
  cancel(now: number): void {
    const soFar = this.started ? this.ranFor(now) : now - this.sentAt;
    this.timeoutMs = Math.min(this.timeoutMs, soFar + CANCELLED_MS);
    this.cancelled = true;
  }

  /** Gives a step more time from `at` on. Its limit never shrinks, unless it was cancelled. Throws ProtocolBreach for other work. */
  refreshTimeout(at: number): void {
    const { refresh } = this.request;
    if (!refresh || !this.step) throw new ProtocolBreach('a request for more time by other work than a step');
    const moreMs = Math.min(this.ranFor(at) + refresh.stretchMs, refresh.mostMs);
    if (!this.cancelled) this.timeoutMs = Math.max(this.timeoutMs, moreMs);
    this.step.refresh(at);
  }

  /** Counts the bytes of a record on the wire. Throws ProtocolBreach beyond the limit. */
  countRecord(bytes: number): void {
    this.wireBytes += bytes;
    if (this.wireBytes > RUN_LIMITS.wireBytes)
      throw new ProtocolBreach(`records of more than ${RUN_LIMITS.wireBytes} bytes in one run`);
  }

  /** Notes that the run called process.exit. Throws ProtocolBreach the second time. */
  exits(): void {
    if (this.exited) throw new ProtocolBreach('a second exit of one run');
    this.exited = true;
  }

  /** Adds a message of the run, except its start and end. Throws ProtocolBreach beyond a limit. */
  say(message: OfRun, raw: Buffer): void {
    switch (message[0]) {
      case 'e':
        return this.emit(message, raw);
      case 'l':
        return this.log(message[2], message[3], raw);
      case 'b':
        return this.db(message[2], message[3] === 1, raw);
      case 'r':
        return this.reply(message, raw);
      case 'v':
        return this.answer(raw);
      case 'o':
      case 'f':
      case 'm':
      case 't':
        return this.ofStep(message, raw);
      case 's':
      case 'd':
      case 'x':
        return;
    }
  }

  outcome(
    status: RunOutcome['status'],
    endedAt: number,
    held: HeldMemory,
    error?: UserError,
    interrupted = false,
  ): RunOutcome {
    const { emits, logs, startedAt, response, value, step } = this;
    const outcome: { -readonly [K in keyof RunOutcome]: RunOutcome[K] } = {
      status,
      held,
      emits,
      logs,
      dbChanges: this.dbChanges ?? NO_CHANGES,
      startedAt,
      endedAt,
    };
    if (error !== undefined) outcome.error = error;
    if (interrupted) outcome.interrupted = true;
    if (this.delays) outcome.delays = true;
    if (response !== undefined) outcome.response = response;
    if (value !== undefined) outcome.value = value;
    if (step !== undefined) outcome.step = step.output();
    return outcome;
  }

  private emit(message: Extract<OfRun, readonly ['e', ...unknown[]]>, raw: Buffer): void {
    if (this.emits.length >= RUN_LIMITS.emits)
      throw new ProtocolBreach(`more than ${RUN_LIMITS.emits} emits in one run`);
    const [, , channel, id, summary, ts, deliverAt] = message;
    this.count(emitBytes(raw.length, channel, id, summary));
    this.countChannel(channel);
    const payload = textOf(raw);
    if (!isPlainJson(payload)) throw new ProtocolBreach('a payload that is no JSON, or nests deeper than 256');
    const call: { -readonly [K in keyof EmitCall]: EmitCall[K] } = { payload, channel };
    if (id !== null) call.id = id;
    if (summary !== null) call.summary = summary;
    if (ts !== null) call.ts = ts;
    if (deliverAt !== undefined) {
      call.deliverAt = deliverAt;
      this.delays = true;
    }
    this.emits.push(call);
  }

  private countChannel(channel: string): void {
    if (channel === '') return;
    this.channels ??= new Set();
    if (this.channels.has(channel)) return;
    if (this.channels.size >= RUN_LIMITS.channels)
      throw new ProtocolBreach(`emits on more than ${RUN_LIMITS.channels} channels in one run`);
    this.channels.add(channel);
  }

  private log(k: string, ts: number, raw: Buffer): void {
    const bytes = logBytes(k, raw.length);
    this.logBytes += bytes;
    // Allows one extra line, which reports dropped lines.
    if (this.logs.length > RUN_LIMITS.logLines || this.logBytes > RUN_LIMITS.logBytes + NOTE_BYTES)
      throw new ProtocolBreach(
        `more than ${RUN_LIMITS.logLines} log lines or ${RUN_LIMITS.logBytes} bytes of them in one run`,
      );
    this.count(bytes);
    const line = { k, ts, msg: textOf(raw) };
    this.logs.push(line);
    this.request.onLine?.(line);
  }

  private db(key: string, deleted: boolean, raw: Buffer): void {
    if (++this.dbRecords > MAX_DB_RECORDS)
      throw new ProtocolBreach(`more than ${MAX_DB_RECORDS} db changes in one run`);
    if (raw.length > RUN_LIMITS.dbValueBytes)
      throw new ProtocolBreach(`a db value of ${raw.length} bytes, at most ${RUN_LIMITS.dbValueBytes}`);
    const text = textOf(raw);
    if (!deleted && !isPlainJson(text))
      throw new ProtocolBreach('a db value that is no JSON, or nests deeper than 256');
    this.dbChanges ??= dictionary();
    const before = this.dbChanges[key];
    this.dbBytes += raw.length + (before === undefined ? Buffer.byteLength(key) : -Buffer.byteLength(before ?? ''));
    if (this.dbBytes > MAX_DB_BYTES)
      throw new ProtocolBreach(`db changes of more than ${MAX_DB_BYTES} bytes in one run`);
    this.dbChanges[key] = deleted ? null : text;
  }

  private reply(message: Extract<OfRun, readonly ['r', ...unknown[]]>, raw: Buffer): void {
    if (this.response) throw new ProtocolBreach('a second reply of one run');
    const [, , status, headers, immediate, base64] = message;
    this.count(replyBytes(raw.length, headers));
    this.response = { status, headers, body: textOf(raw), base64: base64 === 1 };
    if (immediate === 1) this.request.onImmediateResponse?.(this.response);
  }

  private ofStep(message: StepMessage, raw: Buffer): void {
    if (!this.step) throw new ProtocolBreach(`a message of kind "${message[0]}" of other work than a step`);
    this.count(this.step.say(message, raw));
  }

  private answer(raw: Buffer): void {
    if (this.work === 'run' || this.work === 'hook' || this.work === 'step')
      throw new ProtocolBreach('a value of a run, which answers with none');
    if (this.value !== undefined) throw new ProtocolBreach('a second value of one call');
    this.count(raw.length);
    const value = textOf(raw);
    if (!isPlainJson(value)) throw new ProtocolBreach('a value that is no JSON, or nests deeper than 256');
    this.value = value;
  }

  private count(bytes: number): void {
    this.payloadBytes += bytes;
    if (this.payloadBytes > RUN_LIMITS.payloadBytes + NOTE_BYTES)
      throw new ProtocolBreach(`more than ${RUN_LIMITS.payloadBytes} bytes of payload in one run`);
  }
}
