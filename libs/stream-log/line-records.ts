import { type LogRecord } from './stream-log.js';
import { type TopicPolicy } from './topics.js';

/** Log lines of an execution that goes on, for open streams. They come again with its outcome, which is what is kept. */
export interface LiveLines {
  readonly runId: string;
  readonly namespace: string;
  /** Index of the item of a `for_each`, else null. */
  readonly item: number | null;
  /** Number of lines of the execution before these. 0 for a repeat after a crash too. */
  readonly from: number;
  readonly lines: readonly { readonly k: string; readonly ts: number; readonly msg: string }[];
}

/** Marks the records of lines on the topic of runs. */
const LINES = 'lines';

export const linesRecord = (topics: Pick<TopicPolicy, 'runs'>, workflowId: string, lines: LiveLines): LogRecord => ({
  topic: topics.runs(workflowId),
  key: workflowId,
  headers: { kind: LINES },
  value: JSON.stringify(lines),
});

/** Whether a record of runs has lines for open streams only. */
export const isLines = ({ headers }: Pick<LogRecord, 'headers'>): boolean => headers['kind'] === LINES;
