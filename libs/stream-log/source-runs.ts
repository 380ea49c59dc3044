import { type RecordOf, type RunsHeaders } from './envelopes.js';

/** Status of a run that has ended. */
export const ENDED_STATUSES = ['ok', 'threw', 'killed'] as const;
export type EndedStatus = (typeof ENDED_STATUSES)[number];

/** What the commit of a run of a source tells about it (docs/adr/0089). Times are epoch milliseconds. */
export interface SourceRun {
  /** Id of the invocation, or of the execution of a hook. */
  readonly id: string;
  /** Kind of the invocation, or `hook`. */
  readonly kind: string;
  readonly status: EndedStatus;
  readonly queuedAt: number;
  readonly startedAt: number;
  readonly ms: number;
  /** Events that it emitted, without duplicates. */
  readonly emits: number;
  /** How many of them wait for their `delivery_ts`. */
  readonly delayed: number;
  /** Lines on `$logs`. */
  readonly logs: number;
  /** Status of its reply to a request; null when it gave none. */
  readonly httpStatus: number | null;
  /** How often it was started. */
  readonly attempts: number;
  /**
   * Event id of the first event that it left on any channel; `''` for none. The others have the next ids, because a commit
   * gives all events of a run one time.
   */
  readonly firstEvent: string;
  readonly error: { readonly name: string; readonly message: string } | null;
}

/** Most bytes of the record of one run. Longer errors are cut. */
export const RUN_BYTES = 512;
const NAME_BYTES = 64;
const MESSAGE_BYTES = 256;

/** Positions of the fields of a run in the value of the record. The last two are absent without an error. */
type Row = readonly [
  ...[id: string, kind: string, status: EndedStatus, queuedAt: number, startedAt: number, ms: number],
  ...[emits: number, delayed: number, logs: number, httpStatus: number | null, attempts: number, firstEvent: string],
  name?: string,
  message?: string,
];

interface Emitter {
  readonly topic: string;
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Text of its counts (hour-counts.ts). */
  readonly counts?: string;
}

/** Makes the one record for the runs of a commit. */
export const runsRecord = (
  { topic, sourceId, workspaceId, counts }: Emitter,
  runs: readonly SourceRun[],
): RecordOf<RunsHeaders> => ({
  topic,
  key: sourceId,
  headers: {
    kind: 'runs',
    emitter: sourceId,
    workspace: workspaceId,
    ...(counts === undefined ? {} : { counts }),
  },
  value: JSON.stringify(runs.map(rowOf)),
});

/** Returns the newest runs of a record, at most `most`, in the order of the commit. */
export const runsOf = ({ value }: { readonly value: string }, most = Infinity): readonly SourceRun[] => {
  const rows = JSON.parse(value) as readonly Row[];
  return rows.slice(Math.max(0, rows.length - most)).map(runOf);
};

const rowOf = ({ error, ...run }: SourceRun): Row => {
  const { id, kind, status, queuedAt, startedAt, ms, emits, delayed, logs, httpStatus, attempts, firstEvent } = run;
  const counts = [emits, delayed, logs, httpStatus, attempts] as const;
  const row = [id, kind, status, queuedAt, startedAt, ms, ...counts, firstEvent] as const;
  return error === null ? row : [...row, cut(error.name, NAME_BYTES), cut(error.message, MESSAGE_BYTES)];
};

const runOf = (row: Row): SourceRun => {
  const [id, kind, status, queuedAt, startedAt, ms, ...rest] = row;
  const [emits, delayed, logs, httpStatus, attempts, firstEvent, name, message] = rest;
  const error = name === undefined ? null : { name, message: message ?? '' };
  const counts = { emits, delayed, logs, httpStatus, attempts };
  return { id, kind, status, queuedAt, startedAt, ms, ...counts, firstEvent, error };
};

/** Cuts a text so that its JSON has at most this number of bytes, never within a character. */
const cut = (text: string, bytes: number): string => {
  if (text.length <= bytes && bytesOf(text) <= bytes) return text;
  let left = text.slice(0, bytes);
  while (bytesOf(`${left}…`) > bytes) left = left.slice(0, Math.floor(left.length * 0.9));
  return `${left.replace(/[\uD800-\uDBFF]$/, '')}…`;
};

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));
