import { type PackedRecord } from './lane-writer.js';
import { type LogRecord } from './stream-log.js';

/** Outcome of an attempt; `final` is a failure that is not retried. */
export type RecordedOutcome = 'success' | 'retry' | 'final';

/** The JSON value of the record of one attempt. */
export interface AttemptValue {
  /** Epoch milliseconds of the attempt's start. */
  readonly ts: number;
  readonly ms: number;
  readonly status: number | null;
  /** `status 503`, `ECONNREFUSED: …`, `inactive`, …; null for success. */
  readonly error: string | null;
  /** Time of the next attempt in epoch milliseconds; null when none follows. */
  readonly nextAttemptAt: number | null;
  readonly responseSnippet: string;
  /** Headers of the answer. Absent without one, and in records of earlier versions. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

/** An attempt at a delivery. A record of the topic `attempts` holds one or several. */
export interface Attempt {
  readonly topic: string;
  /** Webhook id. */
  readonly key: string;
  readonly delivery: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly outcome: RecordedOutcome;
  readonly workspace: string;
  readonly emitter: string;
  readonly channel: string;
  readonly emit: string;
  readonly event: string;
  readonly value: AttemptValue;
  /** What the process that recorded it counted up to it. The newest attempt of a record brings them. */
  readonly counts?: AttemptCounts;
}

/** Counts of a webhook's deliveries by their final outcome, since a process began. */
export interface AttemptCounts {
  /** Id of the process. */
  readonly epoch: string;
  /** Returns a text of hour-counts.ts. */
  readonly text: () => string;
}

/** The counts that a record has. */
export interface StoredCounts {
  readonly epoch: string;
  readonly counts: string;
}

/** Most attempts in one record, and most characters of the value of a record of several. */
export const MAX_TOGETHER = 64;
export const MAX_CHARACTERS = 256 << 10;

/** Header of a record of several attempts, with their number. */
const TOGETHER = 'attempts';

/** Positions of an attempt's fields in the value of a record of several. */
type Row = readonly [
  ...[delivery: string, attempt: number, outcome: RecordedOutcome, workspace: string, emitter: string],
  ...[channel: string, emit: string, event: string, ts: number, ms: number, status: number | null],
  ...[error: string | null, nextAttemptAt: number | null, responseSnippet: string],
  ...[responseHeaders?: Readonly<Record<string, string>> | null],
];

/** Makes the record of one attempt. A repeat has the same id. */
export const attemptRecord = (attempt: Attempt): LogRecord => {
  const {
    topic,
    key,
    delivery,
    attempt: number,
    outcome,
    workspace,
    emitter,
    channel,
    emit,
    event,
    value,
    counts,
  } = attempt;
  return {
    topic,
    key,
    headers: {
      id: `${delivery}/${number}`,
      delivery,
      webhook: key,
      workspace,
      emitter,
      emit,
      event,
      channel,
      attempt: String(number),
      outcome,
      ...countsHeaders(counts),
    },
    value: JSON.stringify(value),
  };
};

/**
 * Packs the attempts of one webhook into as few records as the limits allow. A single attempt becomes a record of one.
 */
export const packAttempts = (attempts: readonly Attempt[]): readonly PackedRecord[] => {
  const packed: PackedRecord[] = [];
  let rows: string[] = [];
  let characters = 0;
  const close = (next: number): void => {
    const first = attempts[next - rows.length];
    if (!first) return;
    const record = rows.length === 1 ? attemptRecord(first) : together(first, rows, attempts[next - 1]?.counts);
    packed.push({ record, count: rows.length });
    rows = [];
    characters = 0;
  };
  for (const [i, attempt] of attempts.entries()) {
    const row = JSON.stringify(rowOf(attempt));
    if (rows.length === MAX_TOGETHER || (rows.length > 0 && characters + row.length > MAX_CHARACTERS)) close(i);
    rows.push(row);
    characters += row.length;
  }
  close(attempts.length);
  return packed;
};

/** Returns the attempts of a record of either form, none for any other record. */
export const attemptsOf = ({ topic, key, headers, value }: LogRecord): readonly Attempt[] => {
  if (headers[TOGETHER] !== undefined) {
    return (JSON.parse(value) as readonly Row[]).map((row) => attemptOf(topic, key, row));
  }
  const { id, delivery, webhook, workspace, emitter, channel, emit, event, attempt, outcome } = headers;
  if (!id || !delivery || !webhook) return [];
  return [
    {
      topic,
      key,
      delivery,
      attempt: Number(attempt),
      outcome: outcome as RecordedOutcome,
      workspace: workspace ?? '',
      emitter: emitter ?? '',
      channel: channel ?? '',
      emit: emit ?? '',
      event: event ?? '',
      value: JSON.parse(value) as AttemptValue,
    },
  ];
};

/** Undefined for a record of a process that counted nothing, as one of an archive. */
export const countsOfAttempts = ({ headers }: Pick<LogRecord, 'headers'>): StoredCounts | undefined => {
  const { epoch, counts } = headers;
  return epoch === undefined || counts === undefined ? undefined : { epoch, counts };
};

const countsHeaders = (counts: AttemptCounts | undefined): Readonly<Record<string, string>> =>
  counts ? { epoch: counts.epoch, counts: counts.text() } : {};

const together = (
  { topic, key, workspace }: Attempt,
  rows: readonly string[],
  counts: AttemptCounts | undefined,
): LogRecord => ({
  topic,
  key,
  headers: { [TOGETHER]: String(rows.length), workspace, ...countsHeaders(counts) },
  value: `[${rows.join(',')}]`,
});

const rowOf = (attempt: Attempt): Row => [
  attempt.delivery,
  attempt.attempt,
  attempt.outcome,
  attempt.workspace,
  attempt.emitter,
  attempt.channel,
  attempt.emit,
  attempt.event,
  attempt.value.ts,
  attempt.value.ms,
  attempt.value.status,
  attempt.value.error,
  attempt.value.nextAttemptAt,
  attempt.value.responseSnippet,
  attempt.value.responseHeaders ?? null,
];

const attemptOf = (topic: string, key: string, row: Row): Attempt => {
  const [delivery, attempt, outcome, workspace, emitter, channel, emit, event] = row;
  const [, , , , , , , , ts, ms, status, error, nextAttemptAt, responseSnippet, responseHeaders] = row;
  return {
    topic,
    key,
    delivery,
    attempt,
    outcome,
    workspace,
    emitter,
    channel,
    emit,
    event,
    value: {
      ts,
      ms,
      status,
      error,
      nextAttemptAt,
      responseSnippet,
      ...(responseHeaders ? { responseHeaders } : {}),
    },
  };
};
