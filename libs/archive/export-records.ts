import { isOut } from '#libs/delivery/delivery-records.js';
import { MESSAGE_GROUP } from '#libs/delivery/message-worker.js';
import { DEFAULT_WEBHOOK_SETTINGS } from '#libs/delivery/webhook-settings.js';
import { laneStateOf } from '#libs/runner/lane-state.js';
import { type RunJournal } from '#libs/runner/run-journal.js';
import { runIdOf } from '#libs/stream-log/invocations.js';
import { type RunHistory } from '#libs/workflow-history/run-history.js';
import { emitterHeaders, invocationHeaders } from '#libs/stream-log/envelopes.js';
import { attemptRecord, attemptsOf } from '#libs/stream-log/attempt-records.js';
import { type LogRecord, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { laneHistory } from '#libs/stream-log/lane-history.js';
import { ATTEMPTS, DELIVERIES, EMITS, INVOCATIONS, MESSAGES } from '#libs/stream-log/topics.js';
import { type ArchivedRecord } from './archive-format.js';

/** Consumer groups of the roles. Records up to their committed offset are finished. */
export const ROUTER = 'router';
const RUNNER = 'runner';
const WORKER = DEFAULT_WEBHOOK_SETTINGS.group;

/** Reads the emits in the log that the router has routed, for the lists; those that no list keeps are left out. */
export async function* emitsRouted(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, EMITS, ROUTER)) {
    for await (const record of recordsOf(log, lane, -1, committed)) {
      const headers = emitterHeaders(record);
      if (headers.kind !== 'emit' || headers.nostore !== '1') yield archived(record);
    }
  }
}

export async function* emitsUnrouted(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, EMITS, ROUTER)) {
    for await (const record of recordsOf(log, lane, committed)) yield archived(record);
  }
}

/**
 * Reads invocations not yet run. Hooks are left out, because the next start ends their operations, and so is what began a
 * run of a workflow, which is exported itself.
 */
export async function* invocationsToDo({ log, journal, runHistory }: ToDo): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, INVOCATIONS, RUNNER)) {
    const isDone = doneIn(journal);
    for await (const record of recordsOf(log, lane, committed)) {
      const { id, kind, source } = invocationHeaders(record);
      // `settled` is left out too, because its position of the event log does not exist in the target.
      if (kind === 'hook' || kind === 'settled' || (await isDone(source, record.offset))) continue;
      if (source.startsWith('p_') && (await runHistory.find(runIdOf(id)))) continue;
      yield archived(record);
    }
  }
}

interface ToDo {
  readonly log: StreamLog;
  readonly journal: RunJournal;
  readonly runHistory: RunHistory;
}

export async function* deliveriesToDo(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, DELIVERIES, WORKER)) {
    for await (const record of recordsOf(log, lane, committed)) {
      // The event is among the waiting ones, too.
      if (!isOut(record)) yield archived(record);
    }
  }
}

export async function* messagesToSend(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, MESSAGES, MESSAGE_GROUP))
    for await (const record of recordsOf(log, lane, committed)) yield archived(record);
}

/** Reads each attempt as a record of its own, which every release can import. */
export async function* attempts(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for (const topic of await log.topics(ATTEMPTS)) {
    for (const lane of await log.lanes(topic)) {
      for await (const record of recordsOf(log, lane, -1)) {
        for (const attempt of attemptsOf(record)) yield archived(attemptRecord(attempt));
      }
    }
  }
}

/** Reads from the journal which runs ended, because runs end in any order and the lane's offset is committed later. */
const doneIn = (journal: RunJournal): ((source: string, offset: number) => Promise<boolean>) => {
  const known = new Map<string, { readonly through: number; readonly above: ReadonlySet<number> }>();
  return async (source, offset) => {
    let progress = known.get(source);
    if (!progress) {
      const { through, above } = laneStateOf(await journal.load({ executable: source })).progress;
      known.set(source, (progress = { through, above: new Set(above) }));
    }
    return offset <= progress.through || progress.above.has(offset);
  };
};

async function* lanesOf(
  log: StreamLog,
  prefix: string,
  group: string,
): AsyncIterable<{ readonly lane: string; readonly committed: number }> {
  for (const topic of await log.topics(prefix)) {
    const committed = await log.committed(group, topic);
    for (const lane of await log.lanes(topic)) yield { lane, committed: committed[lane] ?? -1 };
  }
}

const LONGEST_PAGE = 500;
/** Characters of a page above which the next page is shorter, because records may be large. */
const LARGE_PAGE = 8 << 20;

async function* recordsOf(
  log: StreamLog,
  lane: string,
  after: number,
  through = Number.MAX_SAFE_INTEGER,
): AsyncIterable<StoredRecord> {
  if (after >= through) return;
  let limit = LONGEST_PAGE;
  for await (const page of laneHistory(log, lane, { after, pageSize: () => limit })) {
    let size = 0;
    for (const record of page) {
      if (record.offset > through) return;
      size += record.value.length;
      yield record;
    }
    limit = size > LARGE_PAGE ? Math.ceil(limit / 4) : Math.min(LONGEST_PAGE, limit * 2);
  }
}

const archived = ({ key, headers, value }: LogRecord): ArchivedRecord => ({ key, headers, value });
