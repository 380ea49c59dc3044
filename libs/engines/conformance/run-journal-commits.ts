import { type RunCommit, type RunJournal } from '#libs/runner/run-journal.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';

/** The journal together with the log that its records go to. */
export interface JournalAndLog {
  readonly journal: RunJournal;
  readonly log: StreamLog;
}

export const TOPIC = 'emits.dc_1';
export const emit = (n: number): LogRecord => ({
  topic: TOPIC,
  key: 'dc_1',
  headers: { id: `e${n}` },
  value: `{"n":${n}}`,
});

export const DC_1 = { executable: 'dc_1' };
export const DC_2 = { executable: 'dc_2' };

export const commit = (expectedVersion: number, change: Partial<RunCommit> = {}): RunCommit => ({
  ...DC_1,
  expectedVersion,
  head: `head ${expectedVersion}`,
  parts: {},
  inbox: [],
  records: [],
  ...change,
});

export const emitted = async ({ log }: JournalAndLog): Promise<(string | undefined)[]> =>
  (await log.read(TOPIC, -1, 1000)).map(({ headers }) => headers.id);
