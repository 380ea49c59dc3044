/** Protocol between host and jailed child: records (libs/framing) over two sockets and one spill file (child/uplink.ts). */
import { type DataStoreOp } from '#libs/component-model/data-store-calls.js';
import { type WaitingEvents } from '#libs/component-model/delayed-limits.js';
import { type LateKind } from './late-work.js';
import { type ReplyHeaders } from './reply-headers.js';
import { type BoundProp } from '../sandbox.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type ProcessCall } from '#libs/component-model/hooks.js';
import { type UserError } from '#libs/component-model/run-output.js';
import { type StepFlow } from '#libs/component-model/step-run.js';
import { type SendHead } from './step-message.js';

/** File descriptors of the child, after those of records. */
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

/** Size limit of a record from a child. */
export const MAX_CHILD_RECORD_BYTES = 7 * MB;

/** Number of a run, byte length of its event, and the place of the body if the text contains it once (BodyRange). */
export type SentRun =
  readonly [n: number, bytes: number] | readonly [n: number, bytes: number, start: number, end: number];

/** Message from host to child. */
export type HostMessage =
  /** Raw: the bundle, if it has one. */
  | { readonly t: 'init'; readonly settings: ChildSettings }
  /** Raw: the concatenated texts of the events. */
  | { readonly t: 'run'; readonly runs: readonly SentRun[] }
  | { readonly t: 'hook'; readonly n: number; readonly hook: ProcessCall }
  /** A further bundle, for the calls after it that name it. Raw: the bundle. */
  | { readonly t: 'bundle'; readonly bundle: number }
  /**
   * Raw: JSON of the BoundCall, then the text of `steps` of a call of kind `step`, which has this many bytes. `bundle` is 0
   * for that of `init`.
   */
  | { readonly t: 'ask'; readonly n: number; readonly bundle: number; readonly stepsBytes: number }
  /** What waits in `$in`, for the runs and hooks after it. */
  | { readonly t: 'waiting'; readonly events: WaitingEvents }
  /** Starts no more runs. Only hooks may follow. Answered by `g`. */
  | { readonly t: 'drop' }
  /** Answers `q`. Raw: JSON of the answer, empty for none. */
  | { readonly t: 'a'; readonly id: number; readonly error?: StoreError }
  /** Answers `t`. Raw: the id of the run, empty for an error. */
  | { readonly t: 'triggered'; readonly n: number; readonly id: number; readonly error?: StoreError };

/** Why a call to a data store, or to start a workflow, failed, for the author. */
export interface StoreError {
  readonly code: string;
  readonly message: string;
}

/** Calls to data stores that a child has sent and whose answers it has not read. The others wait in the child. */
export const STORE_CALLS = 8;

/** A code step of a workflow is an action that may lack type, key and name. */
export type DescribedAs = 'component' | 'step';

export interface ChildSettings {
  readonly env: Readonly<Record<string, string>>;
  /** False for a process whose calls bring their bundles. It serves calls at the same time, and keeps its files. */
  readonly hasBundle: boolean;
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
  /** What to describe the bundle's exports as (`meta`). Null: they are bound. */
  readonly inspect: DescribedAs | null;
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
  /** Export of a step, sent once for each name. Raw: its JSON. */
  | readonly ['o', n: number, name: string]
  /** How a step asked the run to go on. Raw: the reason, or the JSON of the context. */
  | readonly ['f', n: number, kind: StepFlow['kind'], ms: number, maxRetries: number]
  /** Message that a step sends. Raw: its texts. */
  | readonly ['m', n: number, head: SendHead]
  /** Call `id` to start a workflow, answered by `triggered`. Raw: JSON of its event. */
  | readonly ['t', n: number, id: number, workflow: string]
  /** The step asked for more time. */
  | readonly ['w', n: number, at: number]
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
