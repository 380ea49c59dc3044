import { type ChildMessage, RUN_LIMITS, type StoreError, TEXT_LIMITS } from '../protocol/protocol.js';
import { channelFault, keyFault } from '../protocol/run-names.js';
import { emitBytes, logBytes, replyBytes } from '../protocol/run-size.js';
import { wellFormed } from '#libs/kernel/well-formed.js';
import { type Uplink } from './uplink.js';
import { textOfError } from './error-text.js';
import { type SourceDb } from './source-db.js';
import { readReply, type ReadReply, type RespondInput } from './reply.js';
import { type BodyStream, bytesOf, isStream } from './reply-stream.js';
import { lossIn, mayLose } from './json-loss.js';
import { jsonOf, limitError, shallowEnough } from './json-of.js';
import { type LateWork, quoted } from './late-work.js';
import { type Waiting } from './waiting.js';
import * as warnings from './run-warnings.js';
import { timeOf } from './time-of.js';
import { WARNING } from '#libs/component-model/run-output.js';

export interface EmitMetadata {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly summary?: unknown;
  readonly ts?: unknown;
  readonly delivery_ts?: unknown;
}

/** Message that only a step sends. */
type StepMessage = Extract<ChildMessage, readonly ['o' | 'f' | 'm' | 't' | 'w', ...unknown[]]>;

/** One run or hook. Counts and sends its output until it ends, and reports later output as lost. */
export class Execution {
  private emits = 0;
  private logLines = 0;
  private logBytes = 0;
  private payloadBytes = 0;
  private dbWrites = 0;
  private dbWriteBytes = 0;
  private channels: Set<string> | undefined;
  private dbKeys: Set<string> | undefined;
  private responded = false;
  private readonly lateDbKeys = new Set<string>();
  private warned: Set<warnings.WarningKind> | undefined;
  private readonly onEnd: (execution: Execution) => void;
  over = false;
  /** True when the process may serve no other call after this one. */
  spends = false;
  /** Sends what a step leaves, before its end. Never throws. */
  leave: (hasFailed: boolean) => void = () => undefined;
  /** Receives the server's answers to a step's calls that start workflows. */
  answered: (id: number, text: string, error?: StoreError) => void = () => undefined;

  constructor(
    readonly n: number,
    private readonly uplink: Pick<Uplink, 'send' | 'spill' | 'flush' | 'flushIfOlderThan'>,
    private readonly db: SourceDb,
    private readonly waiting: Waiting,
    private readonly late: LateWork,
    onEnd: (execution: Execution) => void,
  ) {
    this.onEnd = onEnd;
  }

  /** Reports that user code starts now. */
  begin(): void {
    this.uplink.flushIfOlderThan(5);
    this.uplink.send(['s', this.n, Date.now()]);
    this.uplink.spill();
  }

  /** Ends the execution once. `failure` wraps the thrown value, so that `throw undefined` counts. */
  end(failure?: { readonly thrown: unknown }): void {
    if (this.over) {
      if (failure) this.late.error(this.n, failure.thrown);
      return;
    }
    for (const key of this.lateDbKeys) this.sendDb(key);
    this.leave(failure !== undefined);
    this.over = true;
    const error = failure ? textOfError(failure.thrown) : null;
    this.uplink.send(this.spends ? ['d', this.n, Date.now(), error, 1] : ['d', this.n, Date.now(), error]);
    this.onEnd(this);
  }

  readonly emit = (event?: unknown, metadata?: EmitMetadata): Promise<void> => {
    if (this.over) return this.lost('emit', () => quoted(event));
    const payload = jsonOfEvent(event);
    if (event === undefined) this.warn('emit-undefined', warnings.EMIT_UNDEFINED);
    else if (mayLose(event, payload)) this.warnOfLoss('emit-loss', '$emit', 'the event', event);
    if (metadata !== undefined && metadata !== null) this.checkMetadata(metadata);
    const read = readMetadata(metadata);
    if (read.ts === null && hasTs(metadata)) this.warn('emit-ts', warnings.unreadTs(metadata.ts));
    this.sendEmit(payload, read);
    return Promise.resolve();
  };

  /** Emits a JSON text on the default channel, byte for byte. */
  passOn(text: string): void {
    this.sendEmit(shallowEnough(text, '$emit'), NO_METADATA);
  }

  private sendEmit(payload: string, { channel, id, summary, ts, deliverAt }: ReadMetadata): void {
    if (++this.emits > RUN_LIMITS.emits)
      throw limitError(
        'FunctionPayloadLimitExceeded',
        `$emit: one run may emit at most ${RUN_LIMITS.emits} events; emit the others in a later run`,
      );
    this.countChannel(channel);
    const bytes = Buffer.byteLength(payload);
    this.count(emitBytes(bytes, channel, id, summary), '$emit');
    if (deliverAt === null) this.uplink.send(['e', this.n, channel, id, summary, ts], payload);
    else {
      if (deliverAt > Date.now()) this.waiting.add(bytes);
      this.uplink.send(['e', this.n, channel, id, summary, ts, deliverAt], payload);
    }
    this.uplink.spill();
  }

  /** Sends a log line of a kind such as `console.log`. Drops lines beyond the limits, and reports that in one line. */
  log(kind: string, text: string): void {
    if (this.over) return this.late.report(this.n, 'log', () => quoted(text));
    if (this.logLines > RUN_LIMITS.logLines) return;
    const bytes = logBytes(kind, Buffer.byteLength(text));
    const left = Math.min(RUN_LIMITS.logBytes - this.logBytes, RUN_LIMITS.payloadBytes - this.payloadBytes);
    if (++this.logLines > RUN_LIMITS.logLines || bytes > left) {
      this.logLines = RUN_LIMITS.logLines + 1;
      const limits = `${RUN_LIMITS.logLines} lines, ${RUN_LIMITS.logBytes / 1024} KB, or what the run may send in all`;
      this.uplink.send(
        ['l', this.n, 'console.warn', Date.now()],
        `Further log lines of this run are dropped: more than ${limits}`,
      );
    } else {
      this.logBytes += bytes;
      this.payloadBytes += bytes;
      this.uplink.send(['l', this.n, kind, Date.now()], text);
    }
    this.uplink.spill();
  }

  readonly respond = (input?: RespondInput): Promise<void> => {
    if (this.over) return this.lost('respond');
    if (isStream(input?.body)) return this.respondWithStream(input, input.body);
    const reply = readReply(input);
    const fault = warnings.faultOfReply(input);
    if (fault !== undefined) this.warn('respond-fields', fault);
    if (typeof input?.body === 'object' && mayLose(input.body, reply.body))
      this.warnOfLoss('respond-loss', 'respond', 'the body', input.body);
    if (this.responded) {
      this.warn('respond-twice', warnings.RESPOND_TWICE);
      return Promise.resolve();
    }
    this.sendReply(reply);
    return Promise.resolve();
  };

  private sendReply(reply: ReadReply): void {
    this.count(replyBytes(Buffer.byteLength(reply.body), reply.headers), 'respond');
    this.responded = true;
    if (reply.dropped.length > 0) this.warn('respond-headers', warnings.droppedHeaders(reply.dropped));
    const { status, headers, immediate, base64 } = reply;
    this.uplink.send(['r', this.n, status, headers, immediate ? 1 : 0, base64 ? 1 : 0], reply.body);
    if (immediate) this.uplink.flush();
    else this.uplink.spill();
  }

  /** Claims the reply at once, so that the first call counts. A stream that fails releases the claim. */
  private respondWithStream(input: RespondInput, stream: BodyStream): Promise<void> {
    if (readReply({ ...input, body: undefined }).immediate)
      throw new Error('respond: a stream cannot be sent with immediate: true: leave it out, and await respond');
    if (this.responded) {
      this.warn('respond-twice', warnings.RESPOND_TWICE);
      return Promise.resolve();
    }
    this.responded = true;
    return this.sendStream(input, stream);
  }

  private async sendStream(input: RespondInput, stream: BodyStream): Promise<void> {
    try {
      const reply = readReply({ ...input, body: await bytesOf(stream) });
      if (this.over) await this.lost('respond');
      else this.sendReply(reply);
    } catch (error) {
      this.responded = false;
      throw error;
    }
  }

  /** Sends a message of a step. */
  tell(message: StepMessage, raw = ''): void {
    this.uplink.send(message, raw);
    this.uplink.spill();
  }

  /** Sends the answer of a call. Throws when it cannot be written as JSON, or is too large. */
  returns(value: unknown, what: string): void {
    const text = jsonOf(value, what);
    this.count(Buffer.byteLength(text), what);
    if (this.over) return;
    this.uplink.send(['v', this.n], text);
    this.uplink.spill();
  }

  /** `$.service.db` is synchronous and holds JSON (docs/reference/component-model.md#db-calls). */
  readonly dbGet = (key: unknown): unknown => {
    const text = this.db.get(String(key));
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };

  readonly dbSet = (key: unknown, value: unknown): void => {
    const name = String(key);
    const fault = keyFault(name);
    if (fault !== undefined) throw new Error(`db.set: a key is not allowed: ${fault}`);
    this.countDbKey(name);
    if (value === undefined) this.db.delete(name);
    else this.setInDb(name, value);
    if (this.over) return this.late.report(this.n, 'db', () => `key ${quoted(name)}`);
    this.dbWriteBytes += this.db.get(name)?.length ?? 0;
    if (this.dbWrites++ < RUN_LIMITS.dbWrites && this.dbWriteBytes < RUN_LIMITS.dbWriteBytes) this.sendDb(name);
    else this.lateDbKeys.add(name);
  };

  private setInDb(name: string, value: unknown): void {
    const text = jsonOf(value, `db.set("${name}")`);
    this.db.set(name, text);
    if (mayLose(value, text)) this.warnOfLoss('db-loss', 'db.set', `the value of key ${quoted(name)}`, value);
  }

  private countDbKey(name: string): void {
    this.dbKeys ??= new Set();
    if (this.over || this.dbKeys.has(name)) return;
    if (this.dbKeys.size >= RUN_LIMITS.dbKeys)
      throw new Error(`db.set: one run may change at most ${RUN_LIMITS.dbKeys} keys; change the others in a later run`);
    this.dbKeys.add(name);
  }

  private sendDb(name: string): void {
    const text = this.db.get(name);
    this.uplink.send(['b', this.n, name, text === undefined ? 1 : 0], text ?? '');
    this.uplink.spill();
  }

  private countChannel(channel: string): void {
    if (channel === '') return;
    this.channels ??= new Set();
    if (this.channels.has(channel)) return;
    if (this.channels.size >= RUN_LIMITS.channels)
      throw limitError(
        'FunctionPayloadLimitExceeded',
        `$emit: one run may emit on at most ${RUN_LIMITS.channels} channels, and "${channel}" would be one more`,
      );
    this.channels.add(channel);
  }

  private lost(kind: 'emit' | 'respond', detail?: () => string): Promise<void> {
    this.late.report(this.n, kind, detail);
    return Promise.resolve();
  }

  /** Writes a line that warns the author of what was accepted and lost, once per run and kind. */
  private warn(kind: warnings.WarningKind, text: string): void {
    if (this.over || this.warned?.has(kind) === true) return;
    this.warned ??= new Set();
    this.warned.add(kind);
    this.log(WARNING, wellFormed(text));
  }

  private warnOfLoss(kind: warnings.WarningKind, call: string, root: string, value: unknown): void {
    if (this.warned?.has(kind) === true) return;
    const loss = lossIn(value, root);
    if (loss !== undefined) this.warn(kind, `${call}: ${loss}`);
  }

  private checkMetadata(metadata: unknown): void {
    if (typeof metadata !== 'object' || Array.isArray(metadata))
      return this.warn('emit-metadata', warnings.notMetadata(metadata));
    for (const key in metadata)
      if (!warnings.isMetadataKey(key)) return this.warn('emit-metadata', warnings.unknownMetadata(key));
  }

  /** Counts bytes that the run sends, or no longer sends. Throws beyond the limit. */
  count(bytes: number, what: string): void {
    const total = this.payloadBytes + bytes;
    if (total > RUN_LIMITS.payloadBytes)
      throw limitError(
        'FunctionPayloadLimitExceeded',
        `${what}: this run would send ${total} bytes, at most ${RUN_LIMITS.payloadBytes} (6 MB) per run are allowed`,
      );
    this.payloadBytes = total;
  }
}

const jsonOfEvent = (event: unknown): string => (event === undefined ? 'null' : jsonOf(event, '$emit'));

interface ReadMetadata {
  readonly channel: string;
  readonly id: string | number | null;
  readonly summary: string | null;
  /** Null for a value that is not a time. */
  readonly ts: number | null;
  readonly deliverAt: number | null;
}

const NO_METADATA: ReadMetadata = { channel: '', id: null, summary: null, ts: null, deliverAt: null };

const readMetadata = (metadata: EmitMetadata | undefined): ReadMetadata => {
  if (metadata === undefined || metadata === null) return NO_METADATA;
  const { name, id, summary, ts, delivery_ts: deliveryTs } = metadata;
  const channel = name === undefined || name === null ? '' : wellFormed(textOf(name, 'name'));
  const fault = channel === '' ? undefined : channelFault(channel);
  if (fault !== undefined) throw new Error(`$emit: ${fault}`);
  return {
    channel,
    id: readId(id),
    summary:
      summary === undefined || summary === null
        ? null
        : wellFormed(textOf(summary, 'summary').slice(0, TEXT_LIMITS.summary)),
    ts: ts === undefined || ts === null ? null : (timeOf(ts) ?? null),
    deliverAt: readDeliveryTs(deliveryTs),
  };
};

const readId = (id: unknown): string | number | null => {
  if (id === undefined || id === null) return null;
  if (typeof id === 'number' && Number.isFinite(id)) return id;
  const text = wellFormed(textOf(id, 'id'));
  const fault = keyFault(text);
  if (fault !== undefined) throw new Error(`$emit: an id is not allowed: ${fault}`);
  if (text.length > TEXT_LIMITS.emitId)
    throw new Error(`$emit: id may have at most ${TEXT_LIMITS.emitId} characters, this one has ${text.length}`);
  return text;
};

const hasTs = (metadata: EmitMetadata | undefined): metadata is EmitMetadata =>
  metadata !== undefined && metadata !== null && metadata.ts !== undefined && metadata.ts !== null;

/** Throws for a wrong time, unlike for a wrong `ts`, because the event would otherwise be sent at once. */
const readDeliveryTs = (value: unknown): number | null => {
  if (value === undefined || value === null) return null;
  const ms = timeOf(value);
  if (ms === undefined)
    throw new Error(`$emit: delivery_ts must be epoch milliseconds, not ${textOf(value, 'delivery_ts')}`);
  return ms;
};

const textOf = (value: unknown, field: string): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return jsonOf(value, `$emit: ${field}`);
};
