import { invocationHeaders } from '#libs/stream-log/envelopes.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type UnfinishedRun } from '../ports.js';

/** Consumer group of the role that runs invocations. */
const RUNNERS = 'runner';
const PAGE = 100;
/** Most records of a lane, and most bytes of their events, that are read for one request. */
const MOST_RECORDS = 1_000;
const MOST_BYTES = 8 << 20;

/**
 * Reads the invocations of a source in the log that no runner has finished, oldest first. A runner commits its progress a
 * moment after a run, so the last ones that ended may be among them.
 *
 * @param from offset up to which they are known otherwise
 */
export const waitingRuns = async (
  { log, topics }: { readonly log: StreamLog; readonly topics: Pick<TopicPolicy, 'invocations'> },
  sourceId: string,
  from = -1,
): Promise<readonly UnfinishedRun[]> => {
  const topic = topics.invocations(sourceId);
  if ((await log.lanes(topic)).length === 0) return [];
  const lane = await log.laneOf(topic, sourceId);
  const committed = (await log.committed(RUNNERS, topic))[lane] ?? -1;
  const runs: UnfinishedRun[] = [];
  let after = Math.max(from, committed);
  let bytes = 0;
  for (let read = 0; read < MOST_RECORDS && bytes < MOST_BYTES;) {
    const records = await log.read(lane, after, PAGE);
    const last = records.at(-1);
    if (!last) break;
    after = last.offset;
    read += records.length;
    for (const record of records) {
      bytes += record.size;
      const { id, kind, source } = invocationHeaders(record);
      if (source === sourceId) runs.push({ id, kind, queuedAt: record.timestamp, startedAt: null });
    }
  }
  return runs;
};
