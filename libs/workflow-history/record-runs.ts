import { Backoff } from '#libs/async/backoff.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { GatheredBatches } from '#libs/stream-log/gathered-batches.js';
import { isLines } from '#libs/stream-log/line-records.js';
import { type SendOutcome, readOutcome } from '#libs/stream-log/message-records.js';
import { type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { RUNS } from '#libs/stream-log/topics.js';
import { type RunChange } from '#libs/workflow-runs/run-change.js';
import { type RunHistory } from './run-history.js';
import { keepsNone, RunRetention, type RetentionPorts } from './clean-up/run-retention.js';

/** Consumer group of the history of runs. */
export const RUN_HISTORY_GROUP = 'projector.run_history';

const MAX_BATCH = 256;
/** Most runs end soon after they start, and then both are one write, with those of other workflows. */
const GATHER_MS = 25;
/** Pauses after a failed write. */
const PAUSES = { firstMs: 100, longestMs: 10_000 };

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

type RecordingPorts = RetentionPorts & { readonly log: StreamLog; readonly runHistory: RunHistory };

/**
 * Writes what happens to runs from the log into the history, in each process for its share of the lanes, and removes the
 * ended runs that are not kept. The history passes over what it has, so a lane may have two owners for a moment, and a
 * crash repeats what was not acknowledged.
 */
export const recordRuns = async (deps: RecordingPorts): Promise<RecordedRuns> => {
  const retention = new RunRetention(deps);
  const writes = new SerialQueue();
  const gathered: GatheredBatches = new GatheredBatches({
    gatherMs: GATHER_MS,
    gatherManyMs: GATHER_MS,
    // Each record is a change of its own.
    newest: (_, records) => records,
    onDue: () => void writes.run(() => flush()),
  });
  const backoff = new Backoff(PAUSES);
  /** Never rejects. A failed write is repeated later. */
  const flush = async (): Promise<void> => {
    const lanes = gathered.shift().filter(({ revoked }) => !revoked());
    if (lanes.length === 0) return;
    try {
      const records = lanes.flatMap((lane) => lane.records);
      // Before the acknowledgement, so that a crash repeats it.
      await record(deps, retention, records);
      gathered.wrote(lanes, records.length);
      backoff.reset();
    } catch (error) {
      if (backoff.count === 0) deps.logger.error({ error: messageOf(error) }, 'run_history.not_written: tried again');
      gathered.putBack(lanes, backoff.next());
    }
  };
  const consumer = await deps.log.consume({
    group: RUN_HISTORY_GROUP,
    topics: { prefix: RUNS },
    maxBatch: MAX_BATCH,
    maxUnacked: 2 * MAX_BATCH,
    handler: async (batch) => gathered.add(batch, false),
    onRevoked: async (lane) => {
      gathered.drop(lane);
      await writes.idle();
    },
  });
  return {
    backlog: () => consumer.backlog(),
    close: async () => {
      gathered.stop();
      await consumer.close();
      await writes.idle();
      await retention.close();
    },
  };
};

/** Resolves once the records are in the history, and the ended runs that are not kept are not. A repeat changes nothing. */
const record = async (
  { runHistory, workflows, logger }: RecordingPorts,
  retention: RunRetention,
  records: readonly StoredRecord[],
): Promise<void> => {
  /** The retention removes the others, which an invocation or a call of a tool may wait to read. */
  const goesNow = ({ workflowId, nostore, origin }: RunChange): boolean => {
    if (nostore !== true) return false;
    const workflow = workflows.find(workflowId);
    const isAwaited = origin?.sourceType === 'MANUAL' || origin?.sourceType === 'TOOL';
    return !isAwaited || !workflow || !keepsNone(workflow);
  };
  const changes = await recordsInto(runHistory, records, ({ lane, offset }, error) =>
    // Not written by this server. The lane goes on without it.
    logger.error({ lane, offset, error: messageOf(error) }, 'run_history.unreadable'),
  );
  const ended = changes.filter(({ head }) => head.endedAt !== null);
  await runHistory.remove(ended.filter(goesNow).map(({ runId }) => runId));
  for (const { workflowId } of ended) retention.ended(workflowId);
};
