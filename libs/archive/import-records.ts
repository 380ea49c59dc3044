import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { ATTEMPTS, DELIVERIES, EMITS, INVOCATIONS, MESSAGES, RUNS, type TopicPolicy } from '#libs/stream-log/topics.js';
import { type ArchivedLines, type ArchivedRecord, type PartName } from './archive-format.js';
import { ROUTER } from './export-records.js';
import { createFixedTopics } from '#libs/stream-log/fixed-topics.js';
import { createOwnedTopics } from '#libs/stream-log/owned-topics.js';

export interface RecordsImport {
  readonly log: StreamLog;
  /** Topic policy of the target, which may differ from the source's. */
  readonly topics: TopicPolicy;
  /** Existing sources, workflows, webhooks and workspaces; records of others are left out. */
  readonly owners: ReadonlySet<string>;
  readonly lines: <P extends PartName>(part: P) => AsyncIterable<ArchivedLines[P]>;
  readonly onProgress: (what: string, done: number) => void;
}

const MAX_RECORDS = 500;
const MAX_CHARACTERS = 1 << 20;
/** Topics created or deleted in parallel, because each is a round trip to the brokers. */
const AT_ONCE = 16;

/**
 * Fills the topics of the target, which no consumer reads yet. A repeat starts over, because it first deletes the
 * topics. Resolves with the number of records that were left out.
 */
export const importRecords = async (options: RecordsImport): Promise<number> => {
  const { log, topics, lines } = options;
  await makeTopics(options);

  // Routed emits come first and are committed; the others follow. So the router continues where it was.
  const routed = await publish(options, lines('emits-routed'), (id) => topics.emits(id), true);
  if (routed.lastOf.size > 0) await log.setCommitted(ROUTER, Object.fromEntries(routed.lastOf));
  const others = [
    await publish(options, lines('emits-unrouted'), (id) => topics.emits(id)),
    await publish(options, lines('invocations'), (id) => topics.invocations(id)),
    await publish(options, lines('deliveries'), (id) => topics.deliveries(id)),
    await publish(options, lines('attempts'), () => topics.attempts()),
    await publish(options, lines('messages'), (id) => topics.messages(id)),
  ];
  return others.reduce((sum, { leftOut }) => sum + leftOut, routed.leftOut);
};

const makeTopics = async ({ log, topics, owners, onProgress }: RecordsImport): Promise<void> => {
  const there = await Promise.all(
    [EMITS, INVOCATIONS, DELIVERIES, ATTEMPTS, RUNS, MESSAGES].map((prefix) => log.topics(prefix)),
  );
  await eachOf(there.flat(), (topic) => log.deleteTopic(topic));
  await createFixedTopics(log, topics);
  let made = 0;
  await eachOf([...owners], async (id) => {
    await createOwnedTopics(log, topics, id);
    if (++made % 100 === 0) onProgress('topics of sources, workflows and webhooks', made);
  });
};

interface Published {
  readonly leftOut: number;
  /** Offset of the last record of each lane. */
  readonly lastOf: ReadonlyMap<string, number>;
}

const publish = async (
  { log, owners }: RecordsImport,
  records: AsyncIterable<ArchivedRecord>,
  topicOf: (id: string) => string,
  notingLanes = false,
): Promise<Published> => {
  const lastOf = new Map<string, number>();
  const laneOf = new Map<string, string>();
  let leftOut = 0;
  let batch: ArchivedRecord[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const offsets = await log.publish(batch.map((record) => ({ ...record, topic: topicOf(record.key) })));
    for (const [i, { key }] of batch.entries()) {
      const offset = offsets[i];
      if (offset === null || offset === undefined) leftOut++;
      else if (notingLanes) {
        const lane = laneOf.get(key) ?? (await log.laneOf(topicOf(key), key));
        laneOf.set(key, lane);
        lastOf.set(lane, Math.max(offset, lastOf.get(lane) ?? -1));
      }
    }
    batch = [];
    size = 0;
  };
  for await (const record of records) {
    if (!owners.has(record.key)) {
      leftOut++;
      continue;
    }
    batch.push(record);
    size += record.value.length;
    if (batch.length >= MAX_RECORDS || size >= MAX_CHARACTERS) await flush();
  }
  await flush();
  return { leftOut, lastOf };
};

const eachOf = async <T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> => {
  const rest = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
};
