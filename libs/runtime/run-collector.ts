import { isPlainJson } from './child-message.js';
import { ProtocolBreach, RUN_LIMITS, type ChildMessage, type ErrorText } from './protocol.js';
import { type EmitCall, type HttpReply, type LogLine, type RunOutcome, type UserError } from './sandbox.js';

/** More than a well-behaved child sends: its own limits decide, these stop a hostile one. */
const MAX_DB_RECORDS = 200_000;
const MAX_DB_BYTES = 4 * RUN_LIMITS.dbTotalBytes;

type OfRun = Exclude<
  ChildMessage,
  readonly ['ready'] | readonly ['loadfail', ErrorText] | readonly ['meta'] | readonly ['invalid', ...unknown[]]
>;

export interface CollectedRun {
  readonly n: number;
  readonly invocationId: string;
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  readonly sentAt: number;
  readonly beside: boolean;
  /** Of the event. */
  readonly bytes: number;
  readonly resolve: (outcome: RunOutcome) => void;
  readonly reject: (reason: Error) => void;
  readonly onImmediateResponse: ((reply: HttpReply) => void) | undefined;
}

/** What one run has said so far, within its limits. */
export class RunCollector {
  readonly emits: EmitCall[] = [];
  readonly logs: LogLine[] = [];
  private dbChanges: Record<string, string | null> = Object.create(null) as Record<string, string | null>;
  private response: HttpReply | undefined;
  private payloadBytes = 0;
  private logBytes = 0;
  private dbRecords = 0;
  private dbBytes = 0;
  /** When its code got control, as far as the host knows; 0 for not yet. */
  startedAt = 0;
  startOrder = 0;

  readonly n: number;
  readonly invocationId: string;
  readonly timeoutMs: number;
  readonly sentAt: number;
  /** A hook: not one of the runs that `concurrency` counts. */
  readonly beside: boolean;
  readonly bytes: number;

  constructor(private readonly request: CollectedRun) {
    this.n = request.n;
    this.invocationId = request.invocationId;
    this.timeoutMs = request.timeoutMs;
    this.sentAt = request.sentAt;
    this.beside = request.beside;
    this.bytes = request.bytes;
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

  /** Takes what the run says, except its start and end. Throws ProtocolBreach beyond a limit. */
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
      case 's':
      case 'd':
      case 'x':
        return;
    }
  }

  outcome(status: RunOutcome['status'], endedAt: number, error?: UserError): RunOutcome {
    return {
      status,
      ...(error === undefined ? {} : { error }),
      emits: this.emits,
      logs: this.logs,
      dbChanges: this.dbChanges,
      ...(this.response === undefined ? {} : { response: this.response }),
      startedAt: this.startedAt,
      endedAt,
    };
  }

  private emit(message: Extract<OfRun, readonly ['e', ...unknown[]]>, raw: Buffer): void {
    if (this.emits.length >= RUN_LIMITS.emits)
      throw new ProtocolBreach(`more than ${RUN_LIMITS.emits} emits in one run`);
    this.count(raw.length);
    const payload = raw.toString('utf8');
    if (!isPlainJson(payload)) throw new ProtocolBreach('a payload that is no JSON, or nests deeper than 256');
    const [, , channel, id, summary, ts] = message;
    const call: { -readonly [K in keyof EmitCall]: EmitCall[K] } = { payload, channel };
    if (id !== null) call.id = id;
    if (summary !== null) call.summary = summary;
    if (ts !== null) call.ts = ts;
    this.emits.push(call);
  }

  private log(k: string, ts: number, raw: Buffer): void {
    this.logBytes += raw.length;
    // One line more, to say that lines were dropped.
    if (this.logs.length > RUN_LIMITS.logLines || this.logBytes > RUN_LIMITS.logBytes + 1_024)
      throw new ProtocolBreach(
        `more than ${RUN_LIMITS.logLines} log lines or ${RUN_LIMITS.logBytes} bytes of them in one run`,
      );
    this.logs.push({ k, ts, msg: raw.toString('utf8') });
  }

  private db(key: string, deleted: boolean, raw: Buffer): void {
    if (++this.dbRecords > MAX_DB_RECORDS)
      throw new ProtocolBreach(`more than ${MAX_DB_RECORDS} db changes in one run`);
    if (raw.length > RUN_LIMITS.dbValueBytes)
      throw new ProtocolBreach(`a db value of ${raw.length} bytes, at most ${RUN_LIMITS.dbValueBytes}`);
    const text = raw.toString('utf8');
    if (!deleted && !isPlainJson(text))
      throw new ProtocolBreach('a db value that is no JSON, or nests deeper than 256');
    const before = this.dbChanges[key];
    this.dbBytes += Buffer.byteLength(text) + (before === undefined ? key.length : -Buffer.byteLength(before ?? ''));
    if (this.dbBytes > MAX_DB_BYTES)
      throw new ProtocolBreach(`db changes of more than ${MAX_DB_BYTES} bytes in one run`);
    this.dbChanges[key] = deleted ? null : text;
  }

  private reply(message: Extract<OfRun, readonly ['r', ...unknown[]]>, raw: Buffer): void {
    if (this.response) throw new ProtocolBreach('a second reply of one run');
    this.count(raw.length);
    const [, , status, headers, immediate, base64] = message;
    this.response = { status, headers, body: raw.toString('utf8'), base64: base64 === 1 };
    if (immediate === 1) this.request.onImmediateResponse?.(this.response);
  }

  private count(bytes: number): void {
    this.payloadBytes += bytes;
    if (this.payloadBytes > RUN_LIMITS.payloadBytes)
      throw new ProtocolBreach(`more than ${RUN_LIMITS.payloadBytes} bytes of payload in one run`);
  }
}
