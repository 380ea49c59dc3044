/**
 * Protocol between host and jailed child: records over two simplex sockets and one spill file (child/uplink.ts).
 *
 * A record is `[u32 index][u32 json bytes][u32 raw bytes][json][raw]`, little endian. The raw part holds large texts
 * (events, payloads). It is cut out by length and never parsed, so that no text can pose as another record.
 */
import { type DataStoreOp } from '#libs/component-model/data-store-calls.js';
import { type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type LateKind } from './late-work.js';
import { type ReplyHeaders } from './reply-headers.js';
import { type BoundProp } from '../sandbox.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type UserError } from '#libs/component-model/run-output.js';

export const HEADER_BYTES = 12;
/** File descriptors of the child. */
export const DOWN_FD = 3;
export const UP_FD = 4;
export const SPILL_FD = 5;
/** File descriptor from which the jail's builder reads before the program starts (SpawnPlan.input). */
export const INPUT_FD = 6;

export const MB = 1024 * 1024;
/** Maximum number of invocations in one frame. */
export const MAX_BATCH = 64;

export interface RunLimits {
  readonly emits: number;
  /** Distinct channel names, not counting the default channel. */
  readonly channels: number;
  readonly logLines: number;
  readonly logBytes: number;
  /** Bytes of the emits, logs and reply of one run, including their metadata (run-size.ts). */
  readonly payloadBytes: number;
  readonly dbValueBytes: number;
  readonly dbTotalBytes: number;
  /** Keys of one store, and keys that one run may change. */
  readonly dbKeys: number;
  /** Changes sent immediately. Later ones are sent at the end of the run, once for each key. */
  readonly dbWrites: number;
  readonly dbWriteBytes: number;
  /** Bytes of all records of one run on the wire. A JSON escape can turn one byte into six. */
  readonly wireBytes: number;
}

export const RUN_LIMITS: RunLimits = {
  emits: 10_000,
  channels: 100,
  logLines: 1_000,
  logBytes: 256 * 1024,
  payloadBytes: 6 * MB,
  dbValueBytes: 60 * 1024,
  dbTotalBytes: MB,
  dbKeys: 10_000,
  dbWrites: 1_000,
  dbWriteBytes: 4 * MB,
  wireBytes: 64 * MB,
};

/** Maximum lengths, in UTF-16 units, of texts in the head of a child's message. */
export const TEXT_LIMITS = {
  name: 256,
  message: 16_384,
  stack: 32_768,
  channel: 1_024,
  emitId: 8_192,
  summary: 16_384,
  dbKey: 4_096,
  headerValue: 16_384,
  headers: 200,
  /** Names and values of all headers together. */
  headerTotal: 65_536,
} as const;

/** Limits of one error with its causes and parts (docs/reference/component-model.md#error-causes). */
export const ERROR_LIMITS = {
  /** Characters of all texts together: those of one error of full length. */
  chars: 2 * TEXT_LIMITS.name + TEXT_LIMITS.message + TEXT_LIMITS.stack,
  /** Nesting of causes and parts below the error. */
  depth: 5,
  /** Parts of one AggregateError. */
  errors: 10,
  /** Causes and parts in all. */
  count: 30,
} as const;

/** Size limit of a record in either direction. The largest are a batch of large events, or one full payload. */
export const MAX_RECORD_BYTES = 64 * MB;
/** Size limit of a record from a child. */
export const MAX_CHILD_RECORD_BYTES = 7 * MB;

/** Number of a run, byte length of its event, and where the text holds the body, if it holds it once (BodyRange). */
export type SentRun =
  readonly [n: number, bytes: number] | readonly [n: number, bytes: number, start: number, end: number];

/** Message from host to child. */
export type HostMessage =
  /** Raw: the bundle. */
  | { readonly t: 'init'; readonly settings: ChildSettings }
  /** Raw: the concatenated texts of the events. */
  | { readonly t: 'run'; readonly runs: readonly SentRun[] }
  | { readonly t: 'hook'; readonly n: number; readonly hook: ProcessCall }
  /** Raw: JSON of the BoundCall. */
  | { readonly t: 'ask'; readonly n: number }
  /** What waits in `$in`, for the runs and hooks after it. */
  | { readonly t: 'waiting'; readonly events: WaitingEvents }
  /** Starts no more runs. Only hooks may follow. Answered by `g`. */
  | { readonly t: 'drop' }
  /** Answers `q`. Raw: JSON of the answer, empty for none. */
  | { readonly t: 'a'; readonly id: number; readonly error?: StoreError };

/** Why a call to a data store failed, for the author. */
export interface StoreError {
  readonly code: string;
  readonly message: string;
}

/** Calls to data stores that a child has sent and whose answers it has not read. The others wait in the child. */
export const STORE_CALLS = 8;

export interface ChildSettings {
  readonly sourceId: string;
  readonly props: Readonly<Record<string, BoundProp>>;
  /** Props that additionalProps added or changed (docs/reference/component-model.md#additional-props). */
  readonly dynamicProps?: readonly ConfigurableProp[];
  readonly db: Readonly<Record<string, string>>;
  readonly concurrency: number;
  /** Unix socket of the egress guard, as the child sees it, or null for no network. */
  readonly egress: string | null;
  /** Folder that the child may write to. */
  readonly tmp: string;
  /** Size of that folder. */
  readonly tmpMb: number;
  /** Code that sends the requests of props (shim/http-request.ts), or null when no prop needs it. */
  readonly requestClient: string | null;
  /** Folder of the packages beside the bundle, as the child sees it. Null for none. */
  readonly packages: string | null;
  /** Describe the bundle's exports (`meta`) instead of binding them. */
  readonly inspect: boolean;
}

/** A child sends every error in the form in which an author reads it. */
export type ErrorText = UserError;

/** Message from child to host: tag, run number, then the tag's fields. The raw part holds the large text, if any. */
export type ChildMessage =
  | readonly ['ready']
  | readonly ['loadfail', ErrorText]
  /** Raw: JSON of the description. */
  | readonly ['meta']
  | readonly ['invalid', message: string, prop: string | null]
  | readonly ['s', n: number, at: number]
  /** Answers `drop`. Runs that have not started before this record will never start. */
  | readonly ['g']
  /** Raw: payload. */
  | readonly [
      'e',
      n: number,
      channel: string,
      id: string | number | null,
      summary: string | null,
      ts: number | null,
      deliverAt?: number,
    ]
  /** Raw: the line. */
  | readonly ['l', n: number, k: string, ts: number]
  /** Raw: JSON of the value, empty when deleted. */
  | readonly ['b', n: number, key: string, deleted: 0 | 1]
  /** Value of a call. Raw: its JSON. */
  | readonly ['v', n: number]
  /** Raw: body. */
  | readonly ['r', n: number, status: number, headers: ReplyHeaders, immediate: 0 | 1, base64: 0 | 1]
  /** With `spent`, a call did not leave the process as loading had left it, so it may serve no other one. */
  | readonly ['d', n: number, at: number, error: ErrorText | null, spent?: 1]
  /** Work that outlived its run, or NO_RUN. Raw: the detail. */
  | readonly ['p', n: number, kind: LateKind, at: number]
  /** Call `id` to a data store, answered by `a`. Raw: JSON of the value of `set`. */
  | readonly ['q', n: number, id: number, op: DataStoreOp, store: string, key: string, number: number | null]
  /** The run called process.exit. */
  | readonly ['x', n: number, exitCode: number];

export interface RawRecord {
  readonly index: number;
  readonly json: Buffer;
  readonly raw: Buffer;
}

/** Thrown when a child breaks the protocol. Its process is ended. */
export class ProtocolBreach extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolBreach';
  }
}

export const recordBytes = (jsonBytes: number, rawBytes: number): number => HEADER_BYTES + jsonBytes + rawBytes;

/** Writes a header at `offset`. */
export const writeHeader = (into: Buffer, offset: number, index: number, jsonBytes: number, rawBytes: number): void => {
  into.writeUInt32LE(index >>> 0, offset);
  into.writeUInt32LE(jsonBytes, offset + 4);
  into.writeUInt32LE(rawBytes, offset + 8);
};

export const encodeRecord = (index: number, message: unknown, texts: readonly (string | Buffer)[] = []): Buffer => {
  const json = JSON.stringify(message);
  const jsonBytes = Buffer.byteLength(json);
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const rawBytes = lengths.reduce((sum, length) => sum + length, 0);
  const out = Buffer.allocUnsafe(recordBytes(jsonBytes, rawBytes));
  writeHeader(out, 0, index, jsonBytes, rawBytes);
  out.write(json, HEADER_BYTES);
  let at = HEADER_BYTES + jsonBytes;
  texts.forEach((text, i) => {
    if (typeof text === 'string') out.write(text, at);
    else text.copy(out, at);
    at += lengths[i] ?? 0;
  });
  return out;
};

const NOTHING = Buffer.alloc(0);

/**
 * Cuts a byte stream into records, in any fragmentation, and copies each byte at most twice. The buffers passed on are
 * views, valid only during the call. Throws ProtocolBreach on an oversized record.
 */
export class RecordParser {
  private parts: Buffer[] = [];
  private have = 0;
  private need = HEADER_BYTES;

  constructor(
    private readonly maxBytes: number,
    private readonly onRecord: (record: RawRecord) => void,
  ) {}

  /** Handles at most `most` records. Returns the unread bytes, which the caller must push next. */
  push(chunk: Buffer, most = Infinity): Buffer {
    if (this.have > 0) {
      this.parts.push(chunk);
      this.have += chunk.length;
      if (this.have < this.need) return NOTHING;
      chunk = this.parts.length === 1 ? chunk : Buffer.concat(this.parts, this.have);
    }
    this.parts = [];
    this.have = 0;
    const { at, isFull } = this.cut(chunk, most);
    const tail = chunk.subarray(at);
    if (isFull) return tail;
    if (tail.length > 0) {
      this.parts.push(tail);
      this.have = tail.length;
    }
    return NOTHING;
  }

  /** Bytes of an incomplete record. */
  pending(): number {
    return this.have;
  }

  private cut(buffer: Buffer, most: number): { readonly at: number; readonly isFull: boolean } {
    let at = 0;
    this.need = HEADER_BYTES;
    for (let count = 0; buffer.length - at >= HEADER_BYTES; count++) {
      if (count >= most) return { at, isFull: true };
      const jsonBytes = buffer.readUInt32LE(at + 4);
      const rawBytes = buffer.readUInt32LE(at + 8);
      const total = recordBytes(jsonBytes, rawBytes);
      if (total > this.maxBytes)
        throw new ProtocolBreach(`a record of ${total} bytes exceeds the limit of ${this.maxBytes} bytes`);
      if (buffer.length - at < total) {
        this.need = total;
        break;
      }
      const rawAt = at + HEADER_BYTES + jsonBytes;
      this.onRecord({
        index: buffer.readUInt32LE(at),
        json: buffer.subarray(at + HEADER_BYTES, rawAt),
        raw: buffer.subarray(rawAt, rawAt + rawBytes),
      });
      at += total;
    }
    return { at, isFull: false };
  }
}
