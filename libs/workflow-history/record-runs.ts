import { messageOf } from '#libs/kernel/error-message.js';
import { isLines } from '#libs/stream-log/line-records.js';
import { type SendOutcome, readOutcome } from '#libs/stream-log/message-records.js';
import { type LaneBatch, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { RUNS } from '#libs/stream-log/topics.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { type RunHistory } from './run-history.js';
import { keepsNone, RunRetention, type RetentionPorts } from './clean-up/run-retention.js';

/** Consumer group of the history of runs. */
export const RUN_HISTORY_GROUP = 'projector.run_history';

const MAX_BATCH = 256;
/** Most runs end soon after they start, and then both are one write. */
const LINGER_MS = 20;

export interface RecordedRuns {
  /** Number of changes of runs that are not yet in the history. */
  backlog(): number;
  close(): Promise<void>;
}

/** Applies records of a topic of runs, and resolves with the changes among them. */
export const recordsInto = async (
  runHistory: Pick<RunHistory, 'apply' | 'applySends'>,
  records: readonly StoredRecord[],
  onUnreadable: (record: StoredRecord, error: unknown) => void,
): Promise<readonly RunChange[]> => {
  const changes: RunChange[] = [];
  const outcomes: SendOutcome[] = [];
  for (const record of records) {
    try {
      if (isLines(record)) continue;
      const outcome = readOutcome(record);
      if (outcome) outcomes.push(outcome);
      else changes.push(JSON.parse(record.value) as RunChange);
    } catch (error) {
      onUnreadable(record, error);
    }
  }
  await runHistory.apply(changes);
  if (outcomes.length > 0) await runHistory.applySends(outcomes);
  return changes;
};

/**
 * Writes what happens to runs from the log into the history, in each process for its share of the lanes, and removes the
 * ended runs that are not kept. The history passes over what it has, so a lane may have two owners for a moment, and a
 * crash repeats what was not acknowledged.
 */
export const recordRuns = async (
  deps: RetentionPorts & { readonly log: StreamLog; readonly runHistory: RunHistory },
): Promise<RecordedRuns> => {
  const { log, runHistory, logger } = deps;
  const retention = new RunRetention(deps);
  /** The retention removes the others, which an invocation or a call of a tool may wait to read. */
  const goesNow = ({ workflowId, nostore, origin }: RunChange): boolean => {
    if (nostore !== true) return false;
    const workflow = deps.workflows.find(workflowId);
    const isAwaited = origin?.sourceType === 'MANUAL' || origin?.sourceType === 'TOOL';
    return !isAwaited || !workflow || !keepsNone(workflow);
  };
  const handler = async ({ records, ack }: LaneBatch): Promise<void> => {
    const changes = await recordsInto(runHistory, records, ({ lane, offset }, error) =>
      // Not written by this server. The lane goes on without it.
      logger.error({ lane, offset, error: messageOf(error) }, 'run_history.unreadable'),
    );
    const ended = changes.filter(({ head }) => head.endedAt !== null);
    // Before the acknowledgement, so that a crash repeats it.
    await runHistory.remove(ended.filter(goesNow).map(({ runId }) => runId));
    for (const { workflowId } of ended) retention.ended(workflowId);
    for (const { offset } of records) ack(offset);
  };
  const consumer = await log.consume({
    group: RUN_HISTORY_GROUP,
    topics: { prefix: RUNS },
    maxBatch: MAX_BATCH,
    maxUnacked: 2 * MAX_BATCH,
    lingerMs: LINGER_MS,
    handler,
  });
  return {
    backlog: () => consumer.backlog(),
    close: async () => {
      await consumer.close();
      await retention.close();
    },
  };
};
