import { type DataStoreLimits } from '#libs/component-model/data-store-calls.js';
import { type FullLimit } from '#libs/data-stores/data-store-records.js';
import { type RunCommit } from '#libs/runner/run-journal.js';
import { type SentText } from '#libs/workflow-history/recorded-run.js';
import { type CollectionSchema } from '#libs/kernel/read-model-store.js';
import { type FileName } from './schema.js';

/**
 * Requests of the main thread to the writer thread by kind, with arguments and answer. Flat arrays of text and numbers
 * cross threads cheapest (0.4 µs a record against 0.7 µs for objects). Records cross as bytes (packed-records.ts).
 */

/** Offset of the first record, with the others following without a gap. A list when a topic is missing. */
export type Offsets = number | (number | null)[];

export const offsetAt = (offsets: Offsets, index: number): number | null =>
  typeof offsets === 'number' ? offsets + index : (offsets[index] ?? null);

/** Change of the bytes waiting for each owner; negative when they shrank. */
export type WaitingBytes = readonly (readonly [owner: string, bytes: number])[];

/** Parts are `[name, text or null, …]`. */
export interface StateWrite extends Pick<RunCommit, 'expectedVersion' | 'head' | 'inbox'> {
  readonly name: string;
  readonly parts: readonly (string | null)[];
}

export interface Ops {
  append: {
    args: { stream: string; expected: number; events: string[]; at: number };
    result: { revision: number; position: number };
  };
  /** The records are packed. */
  publish: { args: null; result: Offsets };
  create_topic: {
    args: { name: string; ageMs: number | null; bytes: number | null; dropConsumed: boolean };
    result: number;
  };
  delete_topic: { args: { id: number; name: string }; result: null };
  /** Removes up to `limit` chunks of deleted topics and returns how many it removed. */
  purge: { args: { limit: number }; result: number };
  /** `[topic, committed, …]` of a group. `drop` has `[topic, up to, …]` of records that no group needs. */
  commit: { args: { group: string; rows: number[] }[]; result: null };
  drop: { args: number[]; result: null };
  group: { args: { name: string; topics: string[]; prefix: boolean; at: number }; result: null };
  /** The emits of all are packed, in their order. */
  run: { args: readonly StateWrite[]; result: Offsets };
  drop_states: { args: readonly string[]; result: null };
  /** `[id, owner, kind, due, record, bytes of the record, …]` */
  due_put: { args: (string | number)[]; result: WaitingBytes };
  /** Id, `since` as it was read, and the new `since`, for each entry. */
  due_out: { args: readonly (string | number)[]; result: null };
  due_remove: { args: readonly string[]; result: WaitingBytes };
  due_remove_owner: { args: string; result: WaitingBytes };
  /** `[source, sortable event id, bytes of the payload, event, payload, …]` */
  delay: { args: (string | number)[]; result: null };
  /** `[source, sortable event id, …]` */
  undelay: { args: readonly string[]; result: null };
  undelay_range: { args: { source: string; from: string; to: string }; result: readonly string[] };
  /** `[key, at, …]` */
  ticks: { args: (string | number)[]; result: null };
  drop_ticks: { args: string; result: null };
  /** `[workspace, invocations, compute ms, credits, …]` */
  usage: { args: { day: number; rows: (string | number)[] }; result: null };
  /** `[minute, workspace, …counts of MINUTE_COUNTS, …]`. Minutes before `kept` are removed. */
  minutes: { args: { rows: (string | number)[]; kept: number }; result: null };
  put_secret: { args: { ref: string; workspace: string; sealed: Uint8Array }; result: null };
  delete_secret: { args: string; result: null };
  store_set: { args: StoreWrite & { value: string; expires: number | null }; result: null };
  store_incr: { args: StoreWrite & { by: number; expires: number | null }; result: number };
  store_ttl: { args: { store: string; key: string; expires: number | null; now: number }; result: boolean };
  store_delete: { args: { store: string; key: string; now: number }; result: boolean };
  /** Both remove a bounded number of records and return that number. */
  store_clear: { args: string; result: number };
  store_expire: { args: number; result: number };
  /** The result has the ids of the runs that had another version, and were not written. */
  history_put: { args: readonly HistoryWrite[]; result: readonly string[] };
  history_sends: { args: readonly SentText[]; result: null };
  history_remove: { args: readonly string[]; result: null };
  register: { args: CollectionSchema; result: number };
  apply: {
    args: {
      schema: CollectionSchema;
      generation: number;
      expected: string | null;
      next: string | null;
      writes: ReadWrite[];
    };
    result: null;
  };
  begin: { args: CollectionSchema; result: number };
  activate: { args: { schema: CollectionSchema; generation: number }; result: null };
  /** Drops every generation but the active one. */
  prune: { args: CollectionSchema; result: null };
}

export interface HistoryWrite {
  id: string;
  expected: number;
  /** Of a new run. */
  arrivedAt: number;
  /** By column of run_history. */
  columns: Readonly<Record<string, string | number | null>>;
  /** `[name, text or null, …]` */
  texts: readonly (string | null)[];
  /** Undefined when they have not changed. */
  words?: string;
}

/** Record of a data store that is written, and the limits that apply. */
export interface StoreWrite {
  store: string;
  workspace: string;
  key: string;
  now: number;
  limits: DataStoreLimits;
}

export type ReadWrite =
  /** The columns of the collection's table, in order (read-model-tables.ts). */
  | { op: 'put'; values: (string | number | null)[] }
  | { op: 'delete'; id: string }
  | { op: 'delete_range'; where: Readonly<Record<string, string>>; from: string | null; to: string | null }
  | { op: 'trim'; where: Readonly<Record<string, string>>; keep: number | null; bytes: number | null };

export type OpKind = keyof Ops;

export const FILE_OF: Readonly<Record<OpKind, FileName>> = {
  append: 'events',
  publish: 'data',
  create_topic: 'data',
  delete_topic: 'data',
  purge: 'data',
  commit: 'data',
  drop: 'data',
  group: 'data',
  run: 'data',
  drop_states: 'data',
  due_put: 'data',
  due_out: 'data',
  due_remove: 'data',
  due_remove_owner: 'data',
  delay: 'data',
  undelay: 'data',
  undelay_range: 'data',
  ticks: 'data',
  drop_ticks: 'data',
  usage: 'data',
  minutes: 'data',
  put_secret: 'data',
  delete_secret: 'data',
  store_set: 'data',
  store_incr: 'data',
  store_ttl: 'data',
  store_delete: 'data',
  store_clear: 'data',
  store_expire: 'data',
  history_put: 'data',
  history_sends: 'data',
  history_remove: 'data',
  register: 'read',
  apply: 'read',
  begin: 'read',
  activate: 'read',
  prune: 'read',
};

export interface Op<K extends OpKind = OpKind> {
  readonly kind: K;
  readonly args: Ops[K]['args'];
  /** Bytes of this operation in `packed`, in which the operations follow one another. */
  readonly packed: number;
}

/** Why an operation was refused by its own rule or could not be written. */
export type Failure =
  | { readonly rule: 'revision'; readonly stream: string; readonly expected: number; readonly actual: number }
  | { readonly rule: 'state'; readonly name: string; readonly expected: number; readonly actual: number }
  | {
      readonly rule: 'checkpoint';
      readonly collection: string;
      readonly expected: string | null;
      readonly actual: string | null;
    }
  | { readonly rule: 'data_store'; readonly full: FullLimit; readonly limit: number; readonly actual: number }
  | { readonly rule: 'data_store_number'; readonly message: string }
  | { readonly rule: 'failed'; readonly message: string; readonly fatal: boolean; readonly full: boolean };

export interface WriteRequest {
  readonly file: FileName;
  readonly ops: readonly Op[];
  /** Records of the operations. The memory moves to the writer, and back with the answer. */
  readonly packed: Uint8Array<ArrayBuffer>;
}

/** Answers in the order of the request. A failed operation has null in its place. */
export interface WriteReply {
  readonly file: FileName;
  readonly results: readonly unknown[];
  readonly failures: readonly (readonly [index: number, failure: Failure])[];
}

export type FromWriter =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'closed' }
  | ({ readonly type: 'reply'; readonly memory: ArrayBuffer } & WriteReply);

export type ToWriter = ({ readonly type: 'write' } & WriteRequest) | { readonly type: 'close' };

export type FromCheckpoints =
  | { readonly type: 'ready' }
  | {
      readonly type: 'copied';
      readonly file: FileName;
      /** Pages in the log that are not in the file yet. */
      readonly remaining: number;
      readonly ms: number;
    }
  | { readonly type: 'failed'; readonly file: FileName; readonly message: string };

/** Data with which the writer thread and the checkpoint thread are started. */
export interface WriterThreadData {
  readonly dataDir: string;
  readonly files: readonly FileName[];
  /** Memory of WalSignals. */
  readonly signals: SharedArrayBuffer;
}
