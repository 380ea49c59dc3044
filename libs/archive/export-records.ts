import { DEFAULT_WEBHOOK_SETTINGS } from '#libs/delivery/webhook-settings.js';
import { type RunJournal } from '#libs/runner/run-journal.js';
import { type InvocationHeaders } from '#libs/stream-log/envelopes.js';
import { type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { ATTEMPTS, DELIVERIES, EMITS, INVOCATIONS } from '#libs/stream-log/topics.js';
import { type ArchivedRecord } from './archive-format.js';

/** Consumer groups of the roles: what they have committed is done. */
export const ROUTER = 'router';
const RUNNER = 'runner';
const WORKER = DEFAULT_WEBHOOK_SETTINGS.group;

/** The emits that still are in the log and that the router had done. */
export async function* emitsRouted(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, EMITS, ROUTER)) {
    for await (const record of recordsOf(log, lane, -1, committed)) yield archived(record);
  }
}

export async function* emitsUnrouted(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, EMITS, ROUTER)) {
    for await (const record of recordsOf(log, lane, committed)) yield archived(record);
  }
}

/** Runs that are still owed. Hooks are not: who asked for them is gone, and the next start ends their operations. */
export async function* invocationsToDo(log: StreamLog, journal: RunJournal): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, INVOCATIONS, RUNNER)) {
    const isDone = doneIn(journal);
    for await (const record of recordsOf(log, lane, committed)) {
      const { kind, source } = record.headers as InvocationHeaders;
      // `settled` names a position of the event log that is left behind, too.
      if (kind === 'hook' || kind === 'settled' || (await isDone(source, record.offset))) continue;
      yield archived(record);
    }
  }
}

export async function* deliveriesToDo(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for await (const { lane, committed } of lanesOf(log, DELIVERIES, WORKER)) {
    for await (const record of recordsOf(log, lane, committed)) yield archived(record);
  }
}

export async function* attempts(log: StreamLog): AsyncIterable<ArchivedRecord> {
  for (const topic of await log.topics(ATTEMPTS)) {
    for (const lane of await log.lanes(topic)) {
      for await (const record of recordsOf(log, lane, -1)) yield archived(record);
    }
  }
}

/** The journal knows better than the group what was run: runs end in any order, and the commit of the lane comes after. */
const doneIn = (journal: RunJournal): ((source: string, offset: number) => Promise<boolean>) => {
  const known = new Map<string, { readonly through: number; readonly above: ReadonlySet<number> }>();
  return async (source, offset) => {
    let progress = known.get(source);
    if (!progress) {
      const { through, above } = (await journal.load(source)).progress;
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
/** Characters of a page above which the next one is shorter: a record may be large. */
const LARGE_PAGE = 8 << 20;

async function* recordsOf(
  log: StreamLog,
  lane: string,
  after: number,
  through = Number.MAX_SAFE_INTEGER,
): AsyncIterable<StoredRecord> {
  let limit = LONGEST_PAGE;
  for (let from = after; from < through;) {
    const page = await log.read(lane, from, limit);
    const last = page.at(-1);
    if (!last) return;
    let size = 0;
    for (const record of page) {
      if (record.offset > through) return;
      size += record.value.length;
      yield record;
    }
    from = last.offset;
    limit = size > LARGE_PAGE ? Math.ceil(limit / 4) : Math.min(LONGEST_PAGE, limit * 2);
  }
}

const archived = ({ key, headers, value }: StoredRecord): ArchivedRecord => ({ key, headers, value });
